-- Runs once, when the volume of the PostgreSQL server is empty.
\getenv cairn_password CAIRN_DB_PASSWORD
\getenv temporal_password TEMPORAL_DB_PASSWORD
CREATE ROLE cairn LOGIN PASSWORD :'cairn_password';
CREATE DATABASE cairn OWNER cairn ENCODING 'UTF8' TEMPLATE template0;
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
