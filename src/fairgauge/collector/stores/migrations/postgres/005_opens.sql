-- When a study opens stands beside when it closes; and how many answers it takes in an hour, any number if NULL.
ALTER TABLE studies ADD COLUMN opens bigint, ADD COLUMN hourly bigint;
UPDATE studies SET opens = extract(epoch FROM (convert_from(document, 'UTF8')::json ->> 'opens')::timestamptz)::bigint;
