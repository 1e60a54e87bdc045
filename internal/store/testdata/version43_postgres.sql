-- A database of the first version that can be upgraded: the tables at migration 43, with a few rows.
CREATE TABLE public.api_keys (
    id text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C",
    prefix text NOT NULL COLLATE pg_catalog."C",
    scopes text NOT NULL COLLATE pg_catalog."C",
    instance boolean NOT NULL,
    expires_at bigint NOT NULL,
    created_at bigint NOT NULL,
    revoked_at bigint NOT NULL,
    queries_per_minute bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.chunks (
    id text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    document_id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    ordinal bigint NOT NULL,
    span_start bigint NOT NULL,
    span_end bigint NOT NULL,
    language text NOT NULL COLLATE pg_catalog."C",
    heading_path text NOT NULL COLLATE pg_catalog."C",
    header text NOT NULL COLLATE pg_catalog."C",
    lines text NOT NULL COLLATE pg_catalog."C",
    pages text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    first_line bigint NOT NULL,
    last_line bigint NOT NULL,
    place text NOT NULL COLLATE pg_catalog."C",
    start_time double precision NOT NULL,
    end_time double precision NOT NULL,
    modality text NOT NULL COLLATE pg_catalog."C",
    figures text NOT NULL COLLATE pg_catalog."C",
    context text NOT NULL COLLATE pg_catalog."C",
    parent_start bigint NOT NULL,
    parent_end bigint NOT NULL,
    speech text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.conversations (
    workspace text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    title text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    summary text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    summarized bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.document_tags (
    document_id text NOT NULL COLLATE pg_catalog."C",
    tag text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.document_tokens (
    document_id text NOT NULL COLLATE pg_catalog."C",
    token text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.document_versions (
    document_id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    begun boolean NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    stage text NOT NULL COLLATE pg_catalog."C",
    error text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    media_type text NOT NULL COLLATE pg_catalog."C",
    language text NOT NULL COLLATE pg_catalog."C",
    source_key text NOT NULL COLLATE pg_catalog."C",
    source_url text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL,
    chunk_count bigint NOT NULL,
    page_count bigint NOT NULL,
    splitter text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    tags text NOT NULL COLLATE pg_catalog."C",
    metadata text NOT NULL COLLATE pg_catalog."C",
    classification text NOT NULL COLLATE pg_catalog."C",
    access text NOT NULL COLLATE pg_catalog."C",
    external_user_id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    override text NOT NULL COLLATE pg_catalog."C",
    sealed_password text NOT NULL COLLATE pg_catalog."C",
    found text NOT NULL COLLATE pg_catalog."C",
    enrichment text NOT NULL COLLATE pg_catalog."C",
    had_password boolean NOT NULL,
    digest text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.documents (
    id text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    external_id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    media_type text NOT NULL COLLATE pg_catalog."C",
    bytes bigint NOT NULL,
    status text NOT NULL COLLATE pg_catalog."C",
    stage text NOT NULL COLLATE pg_catalog."C",
    progress double precision NOT NULL,
    version bigint NOT NULL,
    published_version bigint NOT NULL,
    error text NOT NULL COLLATE pg_catalog."C",
    chunk_count bigint NOT NULL,
    page_count bigint NOT NULL,
    language text NOT NULL COLLATE pg_catalog."C",
    tags text NOT NULL COLLATE pg_catalog."C",
    metadata text NOT NULL COLLATE pg_catalog."C",
    classification text NOT NULL COLLATE pg_catalog."C",
    access text NOT NULL COLLATE pg_catalog."C",
    external_user_id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    legal_hold boolean NOT NULL,
    inactive boolean NOT NULL,
    removing_upto bigint NOT NULL,
    removing_run text NOT NULL COLLATE pg_catalog."C",
    removing_since bigint NOT NULL,
    removed boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    stale_in_index bigint NOT NULL,
    parent text NOT NULL COLLATE pg_catalog."C",
    parent_version bigint NOT NULL,
    found text NOT NULL COLLATE pg_catalog."C",
    events bigint NOT NULL,
    webhook_errors text NOT NULL COLLATE pg_catalog."C",
    waiting text NOT NULL COLLATE pg_catalog."C",
    index_change bigint DEFAULT 0 NOT NULL,
    index_writer text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    index_writer_until bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.goose_db_version (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);
ALTER TABLE public.goose_db_version ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY ( SEQUENCE NAME public.goose_db_version_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 );
CREATE TABLE public.idempotency_keys (
    workspace text NOT NULL COLLATE pg_catalog."C",
    caller text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    route text NOT NULL COLLATE pg_catalog."C",
    body_hash text NOT NULL COLLATE pg_catalog."C",
    run_id text NOT NULL COLLATE pg_catalog."C",
    status bigint NOT NULL,
    content_type text NOT NULL COLLATE pg_catalog."C",
    response bytea NOT NULL,
    created_at bigint NOT NULL,
    owner text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    leased_until bigint DEFAULT 0 NOT NULL
);
CREATE TABLE public.import_failures (
    import bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    document_id text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    etag text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    object text NOT NULL COLLATE pg_catalog."C",
    error text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE public.import_objects (
    source_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    document_id text NOT NULL COLLATE pg_catalog."C",
    import bigint NOT NULL,
    page bigint NOT NULL,
    outcome text NOT NULL COLLATE pg_catalog."C",
    etag text NOT NULL COLLATE pg_catalog."C",
    fingerprint text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL
);
CREATE TABLE public.import_pages (
    import bigint NOT NULL,
    page bigint NOT NULL,
    next text NOT NULL COLLATE pg_catalog."C",
    objects bigint NOT NULL,
    todo bigint NOT NULL,
    known bigint NOT NULL
);
CREATE TABLE public.import_sidecars (
    source_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    import bigint NOT NULL,
    etag text NOT NULL COLLATE pg_catalog."C",
    object text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.import_sources (
    id bigint NOT NULL,
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE public.import_sources ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY ( SEQUENCE NAME public.import_sources_id_seq START WITH 1 INCREMENT BY 1 NO MINVALUE NO MAXVALUE CACHE 1 );
CREATE TABLE public.imports (
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    source_id bigint NOT NULL,
    run_id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    request text NOT NULL COLLATE pg_catalog."C",
    splitter text NOT NULL COLLATE pg_catalog."C",
    listed boolean NOT NULL,
    discovered bigint NOT NULL,
    published bigint NOT NULL,
    skipped bigint NOT NULL,
    failed bigint NOT NULL,
    vanished bigint NOT NULL,
    deleted bigint NOT NULL,
    bytes bigint NOT NULL,
    active bigint NOT NULL,
    error text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    ended_at bigint NOT NULL
);
CREATE TABLE public.message_chunks (
    chunk_id text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    message_id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.messages (
    workspace text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    "position" bigint NOT NULL,
    run_id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL COLLATE pg_catalog."C",
    body text NOT NULL COLLATE pg_catalog."C",
    sources text NOT NULL COLLATE pg_catalog."C",
    chunk_ids text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE public.preferences (
    workspace text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.projects (
    workspace text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    config text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    webhooks text NOT NULL COLLATE pg_catalog."C",
    generation text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    filling text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    callback_secret text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    removing_run text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.rate_limits (
    name text NOT NULL COLLATE pg_catalog."C",
    used_until bigint NOT NULL
);
CREATE TABLE public.runs (
    id text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    workflow_id text NOT NULL COLLATE pg_catalog."C",
    subject text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    owner text NOT NULL COLLATE pg_catalog."C",
    conversation_id text NOT NULL COLLATE pg_catalog."C",
    first_offset bigint NOT NULL,
    log_key text NOT NULL COLLATE pg_catalog."C",
    result_key text NOT NULL COLLATE pg_catalog."C",
    usage text NOT NULL COLLATE pg_catalog."C",
    error text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    parent text NOT NULL COLLATE pg_catalog."C",
    progress text NOT NULL COLLATE pg_catalog."C",
    callback text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    after_run text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.settings (
    name text NOT NULL COLLATE pg_catalog."C",
    value text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.uploads (
    source_key text NOT NULL COLLATE pg_catalog."C",
    document_id text NOT NULL COLLATE pg_catalog."C",
    owner text NOT NULL COLLATE pg_catalog."C",
    leased_until bigint NOT NULL
);
CREATE TABLE public.webhook_deliveries (
    id text NOT NULL COLLATE pg_catalog."C",
    event text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    webhook text NOT NULL COLLATE pg_catalog."C",
    document_id text NOT NULL COLLATE pg_catalog."C",
    number bigint NOT NULL,
    type text NOT NULL COLLATE pg_catalog."C",
    document text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL COLLATE pg_catalog."C",
    attempts bigint NOT NULL,
    http_status bigint NOT NULL,
    error text NOT NULL COLLATE pg_catalog."C",
    answer text NOT NULL COLLATE pg_catalog."C",
    next_at bigint NOT NULL,
    since bigint NOT NULL,
    created_at bigint NOT NULL,
    ended_at bigint NOT NULL
);
CREATE TABLE public.webhook_queues (
    webhook text NOT NULL COLLATE pg_catalog."C",
    workspace text NOT NULL COLLATE pg_catalog."C",
    project text NOT NULL COLLATE pg_catalog."C",
    awake boolean NOT NULL,
    woken_at bigint NOT NULL
);
CREATE TABLE public.workspaces (
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL
);
CREATE TABLE public.write_turns (
);
INSERT INTO public.api_keys VALUES ('key', 'acme', '', 'ci', 'hash', 'pre', '["read","write"]', false, 0, 1772600767000000, 0, 0);
INSERT INTO public.chunks VALUES ('chunk-0', 'acme', 'published', 1, 0, 0, 0, '', '["Travel"]', '', '', '', 'Travel by train is paid in full.', 0, 0, '', 0, 0, '', '', '', 0, 0, '');
INSERT INTO public.chunks VALUES ('chunk-1', 'acme', 'published', 1, 1, 0, 0, '', '["Travel","Tickets"]', '', '', '', 'It''s the ticket that is kept.', 0, 0, '', 0, 0, '', '', '', 0, 0, '');
INSERT INTO public.conversations VALUES ('acme', 'talk', 'handbook', 'k:key', 'Trains', 1772600767000000, 1772600767000000, '', 0);
INSERT INTO public.document_tags VALUES ('published', 'travel');
INSERT INTO public.document_tags VALUES ('pending', 'travel');
INSERT INTO public.document_tokens VALUES ('published', 'w:acme');
INSERT INTO public.document_tokens VALUES ('pending', 'w:acme');
INSERT INTO public.document_versions VALUES ('published', 1, 'acme', 'handbook', 'run-1', false, 'published', 'publish', '', 'published.md', 'text/markdown', 'und', 'acme/handbook/published', '', 42, 0, 0, '{}', 1772600767000000, 1772600767000000, '["travel"]', '{"team":"sales"}', '', '{"workspace":true}', '', '', '', '', '', '', false, 'digest of published');
INSERT INTO public.document_versions VALUES ('pending', 1, 'acme', 'handbook', 'run-2', false, 'pending', 'fetch', '', 'pending.md', 'text/markdown', 'und', 'acme/handbook/pending', '', 42, 0, 0, '{}', 1772600767000000, 1772600767000000, '["travel"]', '{"team":"sales"}', '', '{"workspace":true}', '', '', '', '', '', '', false, 'digest of pending');
INSERT INTO public.documents VALUES ('published', 'acme', 'handbook', 'published', 'published.md', 'text/markdown', 42, 'published', 'publish', 1, 1, 1, '', 0, 0, 'und', '["travel"]', '{"team":"sales"}', '', '{"workspace":true}', '', '', false, false, 0, '', 0, false, 1772600767000000, 1772600767000000, 0, '', 0, '', 0, '', '', 0, '', 0);
INSERT INTO public.documents VALUES ('pending', 'acme', 'handbook', 'pending', 'pending.md', 'text/markdown', 42, 'pending', 'fetch', 0, 1, 0, '', 0, 0, 'und', '["travel"]', '{"team":"sales"}', '', '{"workspace":true}', '', '', false, false, 0, '', 0, false, 1772600767000000, 1772600767000000, 0, '', 0, '', 0, '', '', 0, '', 0);
INSERT INTO public.goose_db_version VALUES (1, 0, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (2, 31, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (3, 32, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (4, 33, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (5, 34, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (6, 35, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (7, 36, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (8, 37, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (9, 38, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (10, 39, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (11, 40, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (12, 41, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (13, 42, true, '2026-11-24 12:00:00');
INSERT INTO public.goose_db_version VALUES (14, 43, true, '2026-11-24 12:00:00');
INSERT INTO public.message_chunks VALUES ('chunk-0', 'acme', 'm1', 'talk');
INSERT INTO public.messages VALUES ('acme', 'm1', 'talk', 1, 'run-3', 'user', 'Who pays for trains?', '', '["chunk-0"]', '', 1772600767000000);
INSERT INTO public.projects VALUES ('acme', 'handbook', 'Handbook', '{}', 1772600767000000, 1772600767000000, '', 'model/3', '', '', '');
INSERT INTO public.runs VALUES ('run-1', 'acme', 'handbook', 'ingest', 'completed', 'ingest/acme/published', 'published', 1, '', '', -1, '', '', '', '', 1772600767000000, 1772600767000000, '', '', '', '');
INSERT INTO public.runs VALUES ('run-2', 'acme', 'handbook', 'ingest', 'running', 'ingest/acme/pending', 'pending', 1, '', '', -1, '', '', '', '', 1772600767000000, 0, '', '', '', '');
INSERT INTO public.settings VALUES ('opened', 'once');
INSERT INTO public.workspaces VALUES ('acme', 'Acme', 1772600767000000);
SELECT pg_catalog.setval('public.goose_db_version_id_seq', 14, true);
SELECT pg_catalog.setval('public.import_sources_id_seq', 1, false);
ALTER TABLE ONLY public.api_keys ADD CONSTRAINT api_keys_hash_key UNIQUE (hash);
ALTER TABLE ONLY public.api_keys ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.chunks ADD CONSTRAINT chunks_document_id_version_ordinal_key UNIQUE (document_id, version, ordinal);
ALTER TABLE ONLY public.chunks ADD CONSTRAINT chunks_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.conversations ADD CONSTRAINT conversations_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.document_tags ADD CONSTRAINT document_tags_pkey PRIMARY KEY (document_id, tag);
ALTER TABLE ONLY public.document_tokens ADD CONSTRAINT document_tokens_pkey PRIMARY KEY (document_id, token);
ALTER TABLE ONLY public.document_versions ADD CONSTRAINT document_versions_pkey PRIMARY KEY (document_id, version);
ALTER TABLE ONLY public.documents ADD CONSTRAINT documents_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.goose_db_version ADD CONSTRAINT goose_db_version_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.idempotency_keys ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (workspace, caller, name);
ALTER TABLE ONLY public.import_failures ADD CONSTRAINT import_failures_pkey PRIMARY KEY (import, key);
ALTER TABLE ONLY public.import_objects ADD CONSTRAINT import_objects_pkey PRIMARY KEY (source_id, key);
ALTER TABLE ONLY public.import_pages ADD CONSTRAINT import_pages_pkey PRIMARY KEY (import, page);
ALTER TABLE ONLY public.import_sidecars ADD CONSTRAINT import_sidecars_pkey PRIMARY KEY (source_id, key);
ALTER TABLE ONLY public.import_sources ADD CONSTRAINT import_sources_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.import_sources ADD CONSTRAINT import_sources_workspace_project_name_key UNIQUE (workspace, project, name);
ALTER TABLE ONLY public.imports ADD CONSTRAINT imports_id_key UNIQUE (id);
ALTER TABLE ONLY public.imports ADD CONSTRAINT imports_pkey PRIMARY KEY (number);
ALTER TABLE ONLY public.message_chunks ADD CONSTRAINT message_chunks_pkey PRIMARY KEY (chunk_id, workspace, message_id);
ALTER TABLE ONLY public.messages ADD CONSTRAINT messages_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.messages ADD CONSTRAINT messages_workspace_conversation_id_position_key UNIQUE (workspace, conversation_id, "position");
ALTER TABLE ONLY public.preferences ADD CONSTRAINT preferences_pkey PRIMARY KEY (workspace, owner);
ALTER TABLE ONLY public.projects ADD CONSTRAINT projects_pkey PRIMARY KEY (workspace, id);
ALTER TABLE ONLY public.rate_limits ADD CONSTRAINT rate_limits_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.runs ADD CONSTRAINT runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.settings ADD CONSTRAINT settings_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.uploads ADD CONSTRAINT uploads_pkey PRIMARY KEY (source_key);
ALTER TABLE ONLY public.webhook_deliveries ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.webhook_queues ADD CONSTRAINT webhook_queues_pkey PRIMARY KEY (webhook);
ALTER TABLE ONLY public.workspaces ADD CONSTRAINT workspaces_pkey PRIMARY KEY (id);
CREATE INDEX api_keys_by_workspace ON public.api_keys USING btree (workspace, created_at, id);
CREATE INDEX chunks_by_parent ON public.chunks USING btree (document_id, version, parent_start) WHERE (parent_end > 0);
CREATE INDEX conversations_by_owner ON public.conversations USING btree (workspace, owner, created_at, id);
CREATE INDEX document_versions_pending ON public.document_versions USING btree (updated_at) WHERE (status = 'pending'::text);
CREATE INDEX documents_being_removed ON public.documents USING btree (removing_since) WHERE (removing_upto > 0);
CREATE INDEX documents_by_conversation ON public.documents USING btree (workspace, conversation_id) WHERE (conversation_id <> ''::text);
CREATE INDEX documents_by_external_id ON public.documents USING btree (workspace, external_id);
CREATE INDEX documents_by_id ON public.documents USING btree (workspace, project, id);
CREATE INDEX documents_by_parent ON public.documents USING btree (parent) WHERE (parent <> ''::text);
CREATE INDEX documents_by_project ON public.documents USING btree (workspace, project, removed, created_at, id);
CREATE INDEX documents_by_workspace ON public.documents USING btree (workspace, removed, created_at, id);
CREATE INDEX documents_stale_in_index ON public.documents USING btree (stale_in_index) WHERE (stale_in_index > 0);
CREATE INDEX idempotency_keys_by_age ON public.idempotency_keys USING btree (created_at);
CREATE INDEX import_objects_retrying ON public.import_objects USING btree (import, key) WHERE (outcome = 'retrying'::text);
CREATE INDEX imports_by_run ON public.imports USING btree (run_id);
CREATE INDEX imports_by_workspace ON public.imports USING btree (workspace, created_at, id);
CREATE UNIQUE INDEX imports_open ON public.imports USING btree (source_id) WHERE (status = ANY (ARRAY['running'::text, 'paused'::text]));
CREATE INDEX message_chunks_by_conversation ON public.message_chunks USING btree (workspace, conversation_id);
CREATE INDEX message_chunks_by_message ON public.message_chunks USING btree (workspace, message_id);
CREATE INDEX projects_by_generation ON public.projects USING btree (workspace, generation);
CREATE INDEX rate_limits_by_use ON public.rate_limits USING btree (used_until);
CREATE INDEX runs_by_conversation_running ON public.runs USING btree (conversation_id) WHERE ((status = 'running'::text) AND (conversation_id <> ''::text));
CREATE INDEX runs_by_parent ON public.runs USING btree (parent, status) WHERE (parent <> ''::text);
CREATE INDEX runs_by_workspace ON public.runs USING btree (workspace, created_at, id);
CREATE INDEX runs_running ON public.runs USING btree (created_at) WHERE (status = 'running'::text);
CREATE INDEX uploads_by_lease ON public.uploads USING btree (leased_until);
CREATE INDEX webhook_deliveries_by_document ON public.webhook_deliveries USING btree (document_id, number);
CREATE INDEX webhook_deliveries_by_workspace ON public.webhook_deliveries USING btree (workspace, created_at, id);
CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (webhook, next_at) WHERE (status = 'pending'::text);
CREATE INDEX webhook_deliveries_ended ON public.webhook_deliveries USING btree (ended_at) WHERE (status <> 'pending'::text);
CREATE INDEX webhook_deliveries_in_order ON public.webhook_deliveries USING btree (webhook, document_id, number) WHERE (status = 'pending'::text);
ALTER TABLE ONLY public.api_keys ADD CONSTRAINT api_keys_workspace_fkey FOREIGN KEY (workspace) REFERENCES public.workspaces(id);
ALTER TABLE ONLY public.chunks ADD CONSTRAINT chunks_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id);
ALTER TABLE ONLY public.document_tags ADD CONSTRAINT document_tags_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id);
ALTER TABLE ONLY public.document_tokens ADD CONSTRAINT document_tokens_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id);
ALTER TABLE ONLY public.document_versions ADD CONSTRAINT document_versions_document_id_fkey FOREIGN KEY (document_id) REFERENCES public.documents(id);
ALTER TABLE ONLY public.import_failures ADD CONSTRAINT import_failures_import_fkey FOREIGN KEY (import) REFERENCES public.imports(number);
ALTER TABLE ONLY public.import_objects ADD CONSTRAINT import_objects_source_id_fkey FOREIGN KEY (source_id) REFERENCES public.import_sources(id);
ALTER TABLE ONLY public.import_pages ADD CONSTRAINT import_pages_import_fkey FOREIGN KEY (import) REFERENCES public.imports(number);
ALTER TABLE ONLY public.import_sidecars ADD CONSTRAINT import_sidecars_source_id_fkey FOREIGN KEY (source_id) REFERENCES public.import_sources(id);
ALTER TABLE ONLY public.imports ADD CONSTRAINT imports_source_id_fkey FOREIGN KEY (source_id) REFERENCES public.import_sources(id);
ALTER TABLE ONLY public.message_chunks ADD CONSTRAINT message_chunks_workspace_message_id_fkey FOREIGN KEY (workspace, message_id) REFERENCES public.messages(workspace, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.messages ADD CONSTRAINT messages_workspace_conversation_id_fkey FOREIGN KEY (workspace, conversation_id) REFERENCES public.conversations(workspace, id) ON DELETE CASCADE;
ALTER TABLE ONLY public.projects ADD CONSTRAINT projects_workspace_fkey FOREIGN KEY (workspace) REFERENCES public.workspaces(id);
