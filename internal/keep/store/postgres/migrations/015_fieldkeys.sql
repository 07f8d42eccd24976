-- What fields of records are compared, grouped and summed up by. SQLite has these as
-- functions of the program. Indexes hold what they give: none of them ever changes, a
-- better one gets another name. They call nothing that is not built in, since the server
-- finds nothing else while it builds an index.
--
-- Escapes that the server refuses are mended first: NUL and halves of surrogate pairs
-- become U+FFFD. A backslash that is itself escaped is spelt in another way before, so that
-- every remaining \u is one.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION record_text(data text, field text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    value json;
BEGIN
    IF data !~ '^\s*\{' THEN
        RETURN NULL;
    END IF;
    IF strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN
        data := replace(data, '\\', '\u005c');
        data := regexp_replace(data, '\\u0000|\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    value := data::json -> field;
    IF json_typeof(value) IN ('string', 'number', 'boolean') THEN
        RETURN left(value #>> '{}', 200);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION record_number(data text, field text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    value json;
    written text;
BEGIN
    IF data !~ '^\s*\{' THEN
        RETURN NULL;
    END IF;
    IF strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN
        data := replace(data, '\\', '\u005c');
        data := regexp_replace(data, '\\u0000|\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    value := data::json -> field;
    IF json_typeof(value) = 'number' THEN
        written := value #>> '{}';
        -- Nothing that passes is out of the range of double precision.
        IF written ~ '^-?[0-9]{1,200}(\.[0-9]{1,100})?([eE][+-]?[0-9]{1,2})?$' THEN
            RETURN written::float8 + 0;
        END IF;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION record_time(data text, field text) RETURNS float8 LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    value json;
    part text[];
    day date;
    second bigint;
BEGIN
    IF data !~ '^\s*\{' THEN
        RETURN NULL;
    END IF;
    IF strpos(data, '\u') > 0 AND data ~* '\\u(0000|d[89a-f])' THEN
        data := replace(data, '\\', '\u005c');
        data := regexp_replace(data, '\\u0000|\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    value := data::json -> field;
    IF json_typeof(value) IS DISTINCT FROM 'string' THEN
        RETURN NULL;
    END IF;
    part := regexp_match(value #>> '{}', '^([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])' ||
        '(?:T([01][0-9]|2[0-3]):([0-5][0-9]):([0-5][0-9])(?:\.([0-9]{1,9}))?(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9])))?$');
    IF part IS NULL OR part[1] = '0000' THEN
        RETURN NULL;
    END IF;
    day := make_date(part[1]::integer, part[2]::integer, 1) + (part[3]::integer - 1);
    IF extract(month FROM day) <> part[2]::integer THEN
        RETURN NULL;
    END IF;
    second := (day - DATE '1970-01-01')::bigint * 86400 + coalesce(part[4], '0')::integer * 3600 + coalesce(part[5], '0')::integer * 60 + coalesce(part[6], '0')::integer
        - (coalesce(part[8], '+') || '1')::integer * (coalesce(part[9], '0')::integer * 3600 + coalesce(part[10], '0')::integer * 60);
    -- The years 1 to 9999 of UTC.
    IF second < -62135596800 OR second >= 253402300800 THEN
        RETURN NULL;
    END IF;
    RETURN second * 1000000 + rpad(left(coalesce(part[7], '0'), 6), 6, '0')::integer;
END
$$;
-- +goose StatementEnd
