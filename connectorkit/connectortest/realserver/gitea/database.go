package gitea

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// What a person has, in the form that a collection of ours has; a member of nothing is left out. The
// statements know nothing of how the server answers requests. :me is the person, :url the server.
var truthStatements = map[string]string{
	"user": `SELECT CAST(id AS TEXT), json_object('id', CAST(id AS TEXT), 'login', name, 'full_name', nullif(full_name,
		''), 'email', nullif(email, ''), 'html_url', :url || name,
		'avatar_url', :url || 'avatars/' || avatar, 'location', nullif(location, ''), 'website', nullif(website, ''),
		'description', nullif(description, ''),
		'created_at', {moment created_unix}, 'followers_count', num_followers, 'following_count', num_following) FROM user
		WHERE id = :me`,
	"repositories": `SELECT CAST(r.id AS TEXT), json_object('id', CAST(r.id AS TEXT), 'name', r.name, 'full_name',
		r.owner_name || '/' || r.name, 'owner_login', r.owner_name,
		'description', nullif(r.description, ''), 'private', {truth is_private}, 'fork', {truth is_fork}, 'mirror',
		{truth is_mirror}, 'archived', {truth is_archived}, 'empty', {truth is_empty},
		'default_branch', nullif(r.default_branch, ''), 'language', {language}, 'topics', json_array(), 'licenses',
		json_array(), 'stars_count', r.num_stars, 'forks_count', r.num_forks,
		'open_issues_count', r.num_issues - r.num_closed_issues, 'open_pulls_count', r.num_pulls - r.num_closed_pulls,
		'size_kb', r.size / 1024, 'html_url', :url || r.owner_name || '/' || r.name,
		'website', nullif(r.website, ''), 'created_at', {moment r.created_unix}, 'updated_at', {moment r.updated_unix})
		FROM repository r WHERE r.owner_id = :me`,
	"starred": `SELECT CAST(r.id AS TEXT), json_object('id', CAST(r.id AS TEXT), 'full_name',
		r.owner_name || '/' || r.name, 'description', nullif(r.description, ''),
		'language', {language}, 'html_url', :url || r.owner_name || '/' || r.name, 'stars_count', r.num_stars,
		'created_at', {moment r.created_unix}) FROM star s JOIN repository r ON r.id = s.repo_id WHERE s.uid = :me`,
	"issues": `SELECT r.id || ':' || i."index", json_object({issue}, 'html_url', :url || r.owner_name || '/' || ` +
		`r.name || '/issues/' || i."index") {from} AND i.is_pull = 0`,
	// Who merged a pull request and how many lines it changes is in no list of the server's.
	"pulls": `SELECT r.id || ':' || i."index", json_object({issue}, 'html_url',
		:url || r.owner_name || '/' || r.name || '/pulls/' || i."index", 'draft', json('false'), 'merged',
		{truth p.has_merged},
		'merged_at', CASE WHEN p.has_merged THEN {moment p.merged_unix} END,
		'base_ref', p.base_branch, 'head_ref', p.head_branch, 'requested_reviewers', json_array())
		{from} AND i.is_pull = 1`,
	"comments": `SELECT CAST(c.id AS TEXT), json_object('id', CAST(c.id AS TEXT), 'repository_id', CAST(r.id AS TEXT),
		'repository_full_name', r.owner_name || '/' || r.name,
		'issue_id', CASE WHEN NOT i.is_pull THEN r.id || ':' || i."index" END, 'pull_id',
		CASE WHEN i.is_pull THEN r.id || ':' || i."index" END,
		'author_login', (SELECT name FROM user WHERE id = c.poster_id), 'body', nullif(c.content, ''),
		'html_url', :url || r.owner_name || '/' || r.name || CASE WHEN i.is_pull THEN '/pulls/' ELSE '/issues/' END || i."index" || '#issuecomment-' || c.id,
		'created_at', {moment c.created_unix}, 'updated_at', {moment c.updated_unix})
		FROM comment c JOIN issue i ON i.id = c.issue_id JOIN repository r ON r.id = i.repo_id WHERE c.type = 0
		AND r.owner_id = :me`,
}

// statementParts are what several statements have.
var statementParts = strings.NewReplacer(
	"{issue}", `'id', r.id || ':' || i."index", 'number', i."index", 'repository_id', CAST(r.id AS TEXT),
		'repository_full_name', r.owner_name || '/' || r.name,
		'author_login', (SELECT name FROM user WHERE id = i.poster_id), 'title', i.name, 'body', nullif(i.content, ''),
		'state', CASE WHEN i.is_closed THEN 'closed' ELSE 'open' END,
		'assignees', json((SELECT json_group_array(u.name) FROM issue_assignees a JOIN user u ON u.id = a.assignee_id
		WHERE a.issue_id = i.id)),
		'labels', json((SELECT json_group_array(l.name) FROM issue_label x JOIN label l ON l.id = x.label_id
		WHERE x.issue_id = i.id)),
		'milestone_title', (SELECT name FROM milestone WHERE id = i.milestone_id), 'is_locked', {truth i.is_locked},
		'created_at', {moment i.created_unix}, 'updated_at', {moment i.updated_unix}, 'closed_at', {moment i.closed_unix},
		'due_at', {moment i.deadline_unix}`,
	"{language}", `(SELECT language FROM language_stat WHERE repo_id = r.id AND is_primary)`,
	"{from}", `FROM issue i JOIN repository r ON r.id = i.repo_id LEFT JOIN pull_request p ON p.issue_id = i.id WHERE `+
		`(r.owner_id = :me OR i.poster_id = :me)`,
)

// expandStatement writes the times and truths of a statement as records have them.
func expandStatement(statement string) string {
	statement = statementParts.Replace(statement)
	for before, after := range map[string][2]string{
		"{moment ": {"CASE WHEN ", " > 0 THEN strftime('%Y-%m-%dT%H:%M:%SZ', $, 'unixepoch') END"},
		"{truth ":  {"json(CASE WHEN ", " THEN 'true' ELSE 'false' END)"},
	} {
		for {
			head, rest, found := strings.Cut(statement, before)
			if !found {
				break
			}
			column, rest, _ := strings.Cut(rest, "}")
			statement = head + after[0] + column + strings.ReplaceAll(after[1], "$", column) + rest
		}
	}
	return statement
}

// Tables are what the account has, by stream and key.
func (a *Account) Tables(ctx context.Context) (all map[string]map[string]json.RawMessage, err error) {
	all = map[string]map[string]json.RawMessage{}
	for stream, statement := range truthStatements {
		all[stream] = map[string]json.RawMessage{}
		statement = strings.NewReplacer(":me", "?1", ":url", "?2").Replace(expandStatement(statement))
		rows, err := a.server.database.QueryContext(ctx, statement, a.id, a.server.URL)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var key, data string
			if err := rows.Scan(&key, &data); err != nil {
				return nil, errors.Join(err, rows.Close())
			}
			if all[stream][key], err = withoutNulls(data); err != nil {
				return nil, errors.Join(err, rows.Close())
			}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Age makes everything that the account has older, as if so much time had passed.
func (a *Account) Age(by time.Duration) error {
	seconds := int64(by.Seconds())
	for _, statement := range []string{
		"UPDATE repository SET created_unix = created_unix - ?1, updated_unix = updated_unix - ?1 WHERE owner_id = ?2",
		"UPDATE comment SET created_unix = created_unix - ?1, updated_unix = updated_unix - ?1 WHERE issue_id IN (SELECT " +
			"id FROM issue WHERE poster_id = ?2)",
		"UPDATE issue SET created_unix = created_unix - ?1, updated_unix = updated_unix - ?1 WHERE poster_id = ?2",
	} {
		if _, err := a.server.database.Exec(statement, seconds, a.id); err != nil {
			return err
		}
	}
	return nil
}

// withoutNulls leaves out the members that are nothing.
func withoutNulls(data string) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(data), &members); err != nil {
		return nil, err
	}
	for name, value := range members {
		if string(value) == "null" {
			delete(members, name)
		}
	}
	return json.Marshal(members)
}
