# The image of Sonatina: docker build -t sonatina:0.1.0 .
# Serves the project that is mounted, or copied by an image of its own, at /srv/project. docs/packaging.md tells more.
ARG NODE_IMAGE=node:22-bookworm-slim

# Compiles, and lays the published files out.
FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN mkdir package sonatina && npm run build && npm pack --pack-destination package && tar -xzf package/*.tgz -C sonatina --strip-components=1

# Packages needed at run time, in the versions of the lock file.
FROM ${NODE_IMAGE} AS packages
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM ${NODE_IMAGE}
LABEL org.opencontainers.image.title="Sonatina" org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production SONATINA_HTTP_HOST=0.0.0.0 SONATINA_STORE_SQLITE_FILE=/var/lib/sonatina/sonatina.db
WORKDIR /var/lib/sonatina
RUN chown 1000:1000 .
WORKDIR /srv
COPY --from=packages /build/node_modules ./node_modules
COPY --from=build /build/sonatina ./node_modules/sonatina
# A number, so that a cluster can tell that it is not root.
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["node", "node_modules/sonatina/dist/lib/cli/main.js", "health", "project"]
# Node.js is the first process and takes the signals; npm would keep them to itself.
ENTRYPOINT ["node", "node_modules/sonatina/dist/lib/cli/main.js"]
CMD ["serve", "project"]
