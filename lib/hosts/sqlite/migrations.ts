/**
 * The schema as numbered steps, applied in order and never changed once released; `user_version` of the file tells how many were.
 *
 * Columns that hold JSON are text.
 */
export const MIGRATIONS: readonly string[] = [
  `
  create table definition (
    hash text primary key, workflow_id text not null, version text not null, uri text not null, text text not null
  ) without rowid;
  create table instance (
    id text not null unique, workflow_id text not null, definition text not null, status text not null, business_key text,
    parent_id text, parent_token text, dependent integer not null, busy integer not null, undelivered integer not null,
    started_at integer not null, ended_at integer, place text, next_step integer not null,
    facts text not null, state text, record text not null, continuation text
  );
  create index instance_started on instance (started_at);
  create index instance_ended on instance (ended_at) where ended_at is not null;
  create index instance_parent on instance (parent_id, parent_token) where parent_id is not null;
  create index instance_busy on instance (busy) where busy = 1;
  create index instance_business_key on instance (business_key) where business_key is not null;
  create table timer (
    instance_id text not null, token text not null, due_at integer not null, primary key (instance_id, token)
  ) without rowid;
  create index timer_due on timer (due_at);
  create table wait (
    key text not null, instance_id text not null, primary key (key, instance_id)
  ) without rowid;
  create index wait_instance on wait (instance_id);
  create table inbox (
    target text not null, event text not null, received_at integer not null, primary key (target, event)
  ) without rowid;
  create index inbox_received on inbox (received_at);
  create table outbox (id text not null unique, event text not null);
  create table effect (id text not null unique, facts text not null, definition text not null, effect text not null);
  create table history (instance_id text not null, sequence integer not null, steps text not null, primary key (instance_id, sequence)) without rowid;
  create table gathering (id text primary key, definition text not null, events text not null, correlation text not null, since integer not null) without rowid;
  create table idempotency (
    place text primary key, body text not null, instance_id text not null, record text, started_at integer not null
  ) without rowid;
  create index idempotency_started on idempotency (started_at);
  create trigger instance_removed after delete on instance begin
    delete from timer where instance_id = old.id;
    delete from wait where instance_id = old.id;
    delete from history where instance_id = old.id;
    delete from inbox where target = old.id;
  end;
  create table schedule (place text primary key, deployed_at integer not null, last_run integer) without rowid;
  `,
  // What belongs to an instance is removed together with that of all others that end in a commit.
  'drop trigger instance_removed;',
  // Instances under way (see PassingTable).
  'create table passing (position integer primary key, id text not null, definition text not null, started_at integer not null, instance text not null);',
]
