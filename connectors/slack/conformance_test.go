//pdpp:tier programs

package slack_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/connectortest"
	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/slack"
)

// TestConformance holds the connector to the suite; long, to all of it.
func TestConformance(t *testing.T) {
	small := slack.Config{Seed: 5, Channels: 6, Users: 7, Files: 7, Messages: 44, MaxPage: 11}
	large := slack.Config{Seed: 5, Channels: 10, Users: 20, Files: 20, Messages: 50, MaxPage: 7}
	connectortest.RunSuite(t, target(t, small), target(t, large))
}

const token = "xoxp-under-test"

func target(t *testing.T, cfg slack.Config) connectortest.Target {
	t.Helper()
	return connectortest.Target{
		Connector:  connectortest.BuiltInConnector(t, "slack"),
		Start:      func(t *testing.T) *connectortest.Sim { return start(t, cfg) },
		Credential: "SLACK_TOKEN",
		Snapshot:   true, // the last days are read again every time
		Changes: []providersim.Mutation{
			{Op: "say", N: 3}, {Op: "reply", N: 3}, {Op: "reply_old", N: 2}, {Op: "react", N: 2}, {Op: "edit", N: 2},
			{Op: "delete_reply", N: 1}, {Op: "upload", N: 1}, {Op: "delete_file", N: 1}, {Op: "rename", N: 1},
		},
		Deletion: providersim.Mutation{Op: "delete", N: 6}, DeletedStream: slack.StreamMessages,
		Scoped: slack.StreamMessages, OptionalField: "text",
		Stored: stored,
	}
}

func start(t *testing.T, cfg slack.Config) *connectortest.Sim {
	t.Helper()
	cfg.Token = token
	s, err := slack.Start(cfg)
	if err != nil {
		t.Fatalf("start provider: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return &connectortest.Sim{Provider: s.Sim, Gate: s.Sim.Gate(),
		Env: map[string]string{"SLACK_TOKEN": token, "PDPP_SLACK_BASE_URL": s.BaseURL + "/api"}}
}

// members are those that are called the same, of each stream.
var members = map[string][]string{
	slack.StreamWorkspace: {"id", "name", "domain", "email_domain"},
	slack.StreamChannels: {"id", "name", "is_channel", "is_im", "is_mpim", "is_private", "is_archived", "is_member",
		"creator", "created", "user", "previous_names"},
	slack.StreamUsers: {"id", "team_id", "name", "deleted", "tz", "is_bot", "is_admin", "is_owner", "is_restricted",
		"is_ultra_restricted", "updated"},
	slack.StreamFiles: {"id", "name", "title", "mimetype", "filetype", "pretty_type", "size", "created", "is_public",
		"is_external", "mode", "permalink", "url_private"},
	slack.StreamMessages: {"channel_id", "ts", "sent_at", "text", "client_msg_id", "thread_ts", "parent_user_id",
		"reply_count", "latest_reply", "subtype", "bot_id", "username", "attachments"},

	slack.StreamMemberships: {"id", "channel_id", "user_id"},
	slack.StreamStats:       {"id", "channel_id", "observed_on", "member_count"},
	slack.StreamReadStates:  {"id", "user_id", "last_read"},
	slack.StreamGroups:      {"id", "team_id", "name", "description", "handle", "is_external", "created_by", "updated_by"},
	slack.StreamReminders:   {"id", "text", "recurring"},
}

// stored returns the record that the store must hold for an object of Slack, independent of the connector's mapping.
func stored(stream, key string, data json.RawMessage) (json.RawMessage, error) {
	var w map[string]any
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	r := map[string]any{}
	put := func(name string, value any) {
		if value != nil {
			r[name] = value
		}
	}
	for _, name := range members[stream] {
		put(name, w[name])
	}
	when := func(name string) string { return time.Unix(int64(w[name].(float64)), 0).UTC().Format(time.RFC3339) }
	at := func() string { return when("created") }
	switch stream {
	case slack.StreamReadStates:
		r["last_read_at"] = "2026-03-01T10:11:12.123459Z"
	case slack.StreamGroups:
		r["created_at"], r["updated_at"], r["user_ids"], r["channel_ids"] = when("date_create"), when("date_update"),
			w["users"], w["prefs"].(map[string]any)["channels"]
	case slack.StreamReminders:
		r["creator_id"], r["user_id"], r["due_at"] = w["creator"], w["user"], when("time")
	case slack.StreamStars:
		r["id"], r["type"], r["starred_at"] = key, w["type"], when("date_create")
		put("channel_id", w["channel"])
		if m, ok := w["message"].(map[string]any); ok {
			r["message_ts"], r["text"] = m["ts"], m["text"]
		}
		if f, ok := w["file"].(map[string]any); ok {
			r["file_id"] = f["id"]
		}
	case slack.StreamWorkspace:
		r["url"], r["authenticated_user_id"], r["authenticated_username"] = "https://home.slack.example/", "U0001", "person1"
		r["icon_url"] = w["icon"].(map[string]any)["image_132"]
	case slack.StreamChannels:
		r["created_at"] = at()
		if topic, ok := w["topic"].(map[string]any); ok {
			r["topic"] = topic["value"]
		}
	case slack.StreamUsers:
		profile := w["profile"].(map[string]any)
		r["real_name"], r["email"], r["image_192_url"] = profile["real_name"], profile["email"], profile["image_192"]
	case slack.StreamFiles:
		r["created_at"], r["uploader_id"] = at(), w["user"]
	case slack.StreamMessages:
		message(w, r, put)
		r["id"] = key
	}
	return json.Marshal(r)
}

func message(w, r map[string]any, put func(string, any)) {
	put("user_id", w["user"])
	put("team_id", w["team"])
	put("reply_user_ids", w["reply_users"])
	r["is_thread_parent"], r["is_tombstone"] = w["thread_ts"] == w["ts"], w["subtype"] == "tombstone"
	if edited, ok := w["edited"].(map[string]any); ok {
		r["edited_ts"], r["edited_by"] = edited["ts"], edited["user"]
	}
	if profile, ok := w["bot_profile"].(map[string]any); ok {
		r["bot_name"] = profile["name"]
	}
	shown := func(name, text string) { // beside a text of its own, or in its place
		if w["text"] == "" {
			name = "text"
		}
		r[name] = text
	}
	if blocks, ok := w["blocks"].([]any); ok {
		shown("block_text", blocks[0].(map[string]any)["text"].(map[string]any)["text"].(string))
	}
	r["file_count"], r["attachment_count"], r["reaction_count"] = 0, 0, 0
	if attachments, ok := w["attachments"].([]any); ok {
		r["attachment_count"] = len(attachments)
		first := attachments[0].(map[string]any)
		lines := first["title"].(string) + "\n" + first["text"].(string)
		if _, ok := first["fields"]; ok {
			lines += "\nHost: attic"
		}
		shown("attachment_text", lines)
	}
	if files, ok := w["files"].([]any); ok {
		r["file_count"], r["file_ids"] = len(files), []any{files[0].(map[string]any)["id"]}
	}
	if reactions, ok := w["reactions"].([]any); ok {
		x := reactions[0].(map[string]any)
		r["reaction_count"], r["reactions"] = x["count"],
			[]any{map[string]any{"emoji": x["name"], "user_ids": x["users"], "count": x["count"]}}
	}
}
