-- A grant may be bound to values of a field. SQLite has the function as one of the program.

-- +goose Up
-- A record's text in a form that PostgreSQL reads: an escape of half a character stands for
-- the replacement character, as it does where the program reads it, and the escape of NUL,
-- which no value asked for can have, for a noncharacter. An escaped backslash is spelled
-- out first, so that no backslash is taken for the beginning of another escape.
-- +goose StatementBegin
CREATE FUNCTION record_readable(data text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN strpos(data, '\u') = 0 OR data !~* '\\u(0000|d[89a-f])' THEN data
        ELSE regexp_replace(regexp_replace(regexp_replace(replace(data, '\\', '\u005c'),
            '\\u0000', '\\uffff', 'g'),
            '\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})', '\\ufffd', 'g'),
            '(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}', '\\ufffd', 'g')
    END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION record_among(data text, field text, vals text[]) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN data IS NULL OR data !~ '^\s*\{' THEN FALSE
        ELSE (SELECT coalesce((d.read ->> field) = ANY (vals) AND json_typeof(d.read -> field) IN ('string', 'number'), FALSE)
            FROM (SELECT record_readable(data)::json AS read) AS d)
    END
$$;
-- +goose StatementEnd
