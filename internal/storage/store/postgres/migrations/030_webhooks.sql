-- Addresses that learn of changed records, and addresses of this server that start a run.

CREATE TABLE webhooks (
    webhook_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name            TEXT             NOT NULL,
    grant_id        TEXT COLLATE "C" REFERENCES grants (grant_id), -- whose limits apply; NULL for what the owner may read
    address         TEXT             NOT NULL,
    sealed_secret   BYTEA            NOT NULL,
    local           BIGINT           NOT NULL, -- 1: the address may be in a private network, and without TLS
    connection_id   TEXT             NOT NULL, -- the only one that is followed; empty for all
    streams_json    TEXT             NOT NULL, -- JSON array; empty for all
    batch           BIGINT           NOT NULL, -- the most changes of one delivery
    created_at      TEXT COLLATE "C" NOT NULL,
    paused_at       TEXT COLLATE "C", -- nothing is delivered while it is set
    pause_reason    TEXT             NOT NULL,
    failures        BIGINT           NOT NULL, -- in a row
    failing_since   TEXT COLLATE "C",
    next_at         TEXT COLLATE "C", -- of the next attempt
    last_failure    TEXT             NOT NULL,
    last_success_at TEXT COLLATE "C",
    deliveries      BIGINT           NOT NULL,
    claimed_by      TEXT             NOT NULL, -- the process that delivers
    claimed_until   TEXT COLLATE "C"
);

-- How far a webhook has delivered a stream.
CREATE TABLE webhook_feeds (
    webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhooks (webhook_id),
    stream     TEXT COLLATE "C" NOT NULL,
    cursor     TEXT             NOT NULL, -- behind what was delivered; empty at the beginning
    round      BIGINT           NOT NULL, -- how often it was set back; part of the ids of deliveries
    PRIMARY KEY (webhook_id, stream)
);

-- Deliveries that were refused for good. They hold no records: the cursor finds them again.
CREATE TABLE webhook_letters (
    letter_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhooks (webhook_id),
    stream     TEXT             NOT NULL,
    cursor     TEXT             NOT NULL, -- before its changes
    changes    BIGINT           NOT NULL,
    reason     TEXT             NOT NULL,
    refused_at TEXT COLLATE "C" NOT NULL
);
CREATE INDEX webhook_letters_by_webhook ON webhook_letters (webhook_id, refused_at);

-- Addresses of this server that start a run of a connection.
CREATE TABLE run_triggers (
    trigger_id     TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    connection_id  TEXT COLLATE "C" NOT NULL REFERENCES connections (connection_id),
    kind           TEXT             NOT NULL, -- generic, github or strava
    sealed_secret  BYTEA            NOT NULL,
    created_at     TEXT COLLATE "C" NOT NULL,
    calls          BIGINT           NOT NULL, -- that were accepted
    last_called_at TEXT COLLATE "C"
);
