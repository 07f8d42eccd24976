-- The page of a run's browser is brought to the console of another machine by whoever shows a
-- secret that is used once. The other database has the same columns.

-- +goose Up
ALTER TABLE interactions ADD COLUMN page_ticket BLOB; -- digest of the secret; NULL when it was used, or the question is closed
ALTER TABLE interactions ADD COLUMN page_ticket_until TEXT; -- when it is good no more
