-- Lists show titles without reading whole documents.
ALTER TABLE studies ADD COLUMN title text NOT NULL DEFAULT '';
UPDATE studies SET title = convert_from(document, 'UTF8')::json ->> 'title';
