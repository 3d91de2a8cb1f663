-- Lists show titles without reading whole documents.
ALTER TABLE studies ADD COLUMN title TEXT NOT NULL DEFAULT '';
UPDATE studies SET title = json_extract(CAST(document AS TEXT), '$.title');
