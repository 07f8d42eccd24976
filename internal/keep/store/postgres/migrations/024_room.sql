-- How much room the files of each stream take, kept with the references to them. The other
-- database has the same columns.

-- +goose Up
CREATE TABLE stream_files (
    sha256    TEXT COLLATE "C" NOT NULL,
    stream_id BIGINT NOT NULL,
    uses      BIGINT NOT NULL, -- how often its records refer to the file
    PRIMARY KEY (sha256, stream_id)
);
INSERT INTO stream_files (sha256, stream_id, uses)
SELECT x.sha256, r.stream_id, count(*) FROM record_blobs x JOIN records r ON r.id = x.record_id GROUP BY x.sha256, r.stream_id;

ALTER TABLE streams ADD COLUMN files BIGINT NOT NULL DEFAULT 0;        -- different ones that its records refer to
ALTER TABLE streams ADD COLUMN file_bytes BIGINT NOT NULL DEFAULT 0;
ALTER TABLE streams ADD COLUMN shared_bytes BIGINT NOT NULL DEFAULT 0; -- summed up over all streams: what file_bytes count more than once
UPDATE streams SET
    files = (SELECT count(*) FROM stream_files f WHERE f.stream_id = streams.stream_id),
    file_bytes = (SELECT coalesce(sum(b.bytes), 0) FROM stream_files f JOIN blobs b ON b.sha256 = f.sha256 WHERE f.stream_id = streams.stream_id),
    shared_bytes = (SELECT coalesce(sum(b.bytes), 0) FROM stream_files f JOIN blobs b ON b.sha256 = f.sha256 WHERE f.stream_id = streams.stream_id
        AND EXISTS (SELECT 1 FROM stream_files g WHERE g.sha256 = f.sha256 AND g.stream_id < f.stream_id))
WHERE stream_id IN (SELECT stream_id FROM stream_files);
