-- When a study opens stands beside when it closes; and how many answers it takes in an hour, any number if NULL.
ALTER TABLE studies ADD COLUMN opens INTEGER;
ALTER TABLE studies ADD COLUMN hourly INTEGER;
UPDATE studies SET opens = CAST(strftime('%s', json_extract(CAST(document AS TEXT), '$.opens')) AS INTEGER)
    WHERE json_valid(CAST(document AS TEXT));
