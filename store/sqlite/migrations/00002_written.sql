-- +goose Up
-- Of a source of written documents their label in canonical JSON: a trusted column like its kind, format and facets.
ALTER TABLE source ADD COLUMN written TEXT NOT NULL DEFAULT '';
