# An image with a project in it: docker build -f project.Dockerfile -t my-project:1.0 my-project
# For projects whose host modules import packages, or that are too large for a ConfigMap (sonatina manifest --embedded).
ARG SONATINA_IMAGE=sonatina:0.1.0

FROM node:22-bookworm-slim AS packages
WORKDIR /srv/project
COPY . .
RUN if [ -f package-lock.json ]; then npm ci --omit=dev --ignore-scripts; fi

FROM ${SONATINA_IMAGE}
COPY --from=packages /srv/project ./project
