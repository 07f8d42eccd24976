package slack

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
)

func text(paths ...string) rest.Field { return rest.From(paths...).NonEmpty() }
func seconds(path string) rest.Field  { return rest.From(path).UnixTime() }
func ofAccount(path string) rest.Field { // takes a text of the answer that names the account
	return rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		value, err := i.Run.AccountText(context.Background(), path)
		if value == "" || err != nil {
			return nil, err
		}
		return json.Marshal(value)
	})
}

var workspaceFields = rest.Fields{
	"enterprise_id": ofAccount("enterprise_id"), "url": ofAccount("url"), "icon_url": rest.From("icon.image_132"),
	"authenticated_user_id": ofAccount("user_id"), "authenticated_username": ofAccount("user"),
	"authenticated_bot_id": ofAccount("bot_id"),
}

var channelFields = rest.Fields{"created_at": seconds("created"), "topic": text("topic.value"),
	"purpose": text("purpose.value")}

var userFields = rest.Fields{
	"real_name": text("profile.real_name"), "display_name": text("profile.display_name"),
	"first_name": text("profile.first_name"), "last_name": text("profile.last_name"), "email": text("profile.email"),
	"phone": text("profile.phone"), "title": text("profile.title"), "status_text": text("profile.status_text"),
	"status_emoji": text("profile.status_emoji"), "image_192_url": text("profile.image_192"),
}

var fileFields = rest.Fields{"uploader_id": rest.From("user"), "created_at": seconds("created")}

var groupFields = rest.Fields{
	"created_at": seconds("date_create"), "updated_at": seconds("date_update"), "disabled_at": seconds("date_delete"),
	"user_ids": rest.From("users"),
	"channel_ids": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		var w struct {
			Prefs struct {
				Channels []string `json:"channels"`
				Groups   []string `json:"groups"`
			} `json:"prefs"`
		}
		err := json.Unmarshal(i.Raw, &w)
		if all := append(w.Prefs.Channels, w.Prefs.Groups...); err == nil && all != nil {
			return json.Marshal(all)
		}
		return nil, err
	}),
}

var reminderFields = rest.Fields{
	"creator_id": rest.From("creator"), "user_id": rest.From("user"), "channel_id": rest.From("channel"),
	"due_at": seconds("time"), "completed_at": seconds("complete_ts"),
	"recurrence": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		if v := i.Member("recurrence"); v.Kind() == '{' {
			return v, nil
		}
		return nil, nil
	}),
}

// starFields name a star by what it is on: Slack has no id for it.
var starFields = rest.Fields{
	"id": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		parts := []string{i.Text("type")}
		for _, path := range []string{"channel", "message.ts", "file.id", "comment.id"} {
			if part := i.Text(path); part != "" {
				parts = append(parts, part)
			}
		}
		if len(parts) == 1 {
			return nil, nil
		}
		return json.Marshal(strings.Join(parts, ":"))
	}),
	"type": text("type"), "channel_id": text("channel"), "message_ts": text("message.ts"), "file_id": text("file.id"),
	"text": text("message.text", "comment.comment"), "starred_at": seconds("date_create"),
}

type membershipRecord struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
	User    string `json:"user_id"`
}

// readMembership reads a member of a conversation, which is a bare id.
func readMembership(i rest.Item) rest.Row {
	var user string
	if err := json.Unmarshal(i.Raw, &user); err != nil || user == "" {
		return rest.Row{Record: connectorkit.Unreadable("", err)}
	}
	r := membershipRecord{ID: i.Partition.ID + ":" + user, Channel: i.Partition.ID, User: user}
	return rest.Row{Key: r.ID, Record: connectorkit.Upsert(r)}
}

type statRecord struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
	Day     string `json:"observed_on"`
	Members int64  `json:"member_count"`
}

var readStateFields = rest.Fields{
	"id": rest.FromPartition("id"), "user_id": rest.FromPartition("user").NonEmpty(), "last_read": text("last_read"),
	"last_read_at": rest.Computed(func(i rest.Item) (jsontext.Value, error) {
		at, real := messageStamp(i.Text("last_read")).stampTime()
		if !real {
			return nil, nil
		}
		return json.Marshal(at.Format(recordTimeLayout))
	}),
}
