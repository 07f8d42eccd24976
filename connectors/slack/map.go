package slack

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// key is that of a message: its stamp tells it apart within its conversation alone.
func key(conversation string, ts stamp) string { return conversation + ":" + string(ts) }

type workspaceRecord struct {
	ID             string  `json:"id"`
	Name           *string `json:"name,omitzero"`
	Domain         *string `json:"domain,omitzero"`
	EmailDomain    *string `json:"email_domain,omitzero"`
	EnterpriseID   *string `json:"enterprise_id,omitzero"`
	EnterpriseName *string `json:"enterprise_name,omitzero"`
	URL            string  `json:"url,omitzero"`
	Icon           *string `json:"icon_url,omitzero"`
	UserID         string  `json:"authenticated_user_id,omitzero"`
	User           string  `json:"authenticated_username,omitzero"`
	BotID          *string `json:"authenticated_bot_id,omitzero"`
}

// channelRecord has the members that Slack calls the same; a pointer is one that may be null or absent.
type channelRecord struct {
	ID            string   `json:"id"`
	Name          *string  `json:"name,omitzero"`
	Normalized    *string  `json:"name_normalized,omitzero"`
	IsChannel     *bool    `json:"is_channel,omitzero"`
	IsGroup       *bool    `json:"is_group,omitzero"`
	IsIM          *bool    `json:"is_im,omitzero"`
	IsMPIM        *bool    `json:"is_mpim,omitzero"`
	IsPrivate     *bool    `json:"is_private,omitzero"`
	IsShared      *bool    `json:"is_shared,omitzero"`
	IsExtShared   *bool    `json:"is_ext_shared,omitzero"`
	IsOrgShared   *bool    `json:"is_org_shared,omitzero"`
	IsArchived    *bool    `json:"is_archived,omitzero"`
	IsGeneral     *bool    `json:"is_general,omitzero"`
	IsMember      *bool    `json:"is_member,omitzero"`
	IsReadOnly    *bool    `json:"is_read_only,omitzero"`
	Creator       *string  `json:"creator,omitzero"`
	Created       *int64   `json:"created,omitzero"`
	CreatedAt     string   `json:"created_at,omitzero"`
	Topic         string   `json:"topic,omitzero"`
	Purpose       string   `json:"purpose,omitzero"`
	User          *string  `json:"user,omitzero"`
	SharedTeams   []string `json:"shared_team_ids,omitzero"`
	ContextTeam   *string  `json:"context_team_id,omitzero"`
	PreviousNames []string `json:"previous_names,omitzero"`
}

type described struct {
	Value string `json:"value"`
}

func readChannel(raw jsontext.Value) connectorkit.ListItem {
	var wire struct {
		channelRecord
		Topic   described `json:"topic"`
		Purpose described `json:"purpose"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil || wire.ID == "" {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(wire.ID, err)}
	}
	r := wire.channelRecord
	r.Topic, r.Purpose, r.CreatedAt = wire.Topic.Value, wire.Purpose.Value, moment(r.Created)
	return connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
}

// moment spells seconds as records do.
func moment(seconds *int64) string {
	if seconds == nil || *seconds <= 0 || *seconds > 1<<40 {
		return ""
	}
	return time.Unix(*seconds, 0).UTC().Format(time.RFC3339)
}

// person is a user's own profile.
type person struct {
	RealName    string `json:"real_name,omitzero"`
	DisplayName string `json:"display_name,omitzero"`
	FirstName   string `json:"first_name,omitzero"`
	LastName    string `json:"last_name,omitzero"`
	Email       string `json:"email,omitzero"`
	Phone       string `json:"phone,omitzero"`
	Title       string `json:"title,omitzero"`
	StatusText  string `json:"status_text,omitzero"`
	StatusEmoji string `json:"status_emoji,omitzero"`
}

type userRecord struct {
	ID     string  `json:"id"`
	TeamID *string `json:"team_id,omitzero"`
	Name   *string `json:"name,omitzero"`
	person
	Zone         *string `json:"tz,omitzero"`
	IsBot        *bool   `json:"is_bot,omitzero"`
	IsAdmin      *bool   `json:"is_admin,omitzero"`
	IsOwner      *bool   `json:"is_owner,omitzero"`
	IsRestricted *bool   `json:"is_restricted,omitzero"`
	IsGuest      *bool   `json:"is_ultra_restricted,omitzero"`
	IsStranger   *bool   `json:"is_stranger,omitzero"`
	Deleted      *bool   `json:"deleted,omitzero"`
	Image        string  `json:"image_192_url,omitzero"`
	Updated      *int64  `json:"updated,omitzero"`
}

func readUser(raw jsontext.Value) connectorkit.ListItem {
	var r userRecord
	err := json.Unmarshal(raw, &r)
	if err != nil || r.ID == "" {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(r.ID, err)}
	}
	var wire struct {
		Profile struct {
			person
			Image string `json:"image_192"`
		} `json:"profile"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return connectorkit.ListItem{Record: connectorkit.Unreadable(r.ID, err)}
	}
	r.person, r.Image = wire.Profile.person, wire.Profile.Image
	return connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
}

type reaction struct {
	Name  string   `json:"emoji"`
	Users []string `json:"user_ids"`
	Count int64    `json:"count"` // may be more than the users that are named
}

type messageRecord struct {
	ID              string     `json:"id"`
	Channel         string     `json:"channel_id"`
	User            *string    `json:"user_id,omitzero"`
	Bot             *string    `json:"bot_id,omitzero"`
	Team            *string    `json:"team_id,omitzero"`
	ClientID        *string    `json:"client_msg_id,omitzero"`
	TS              stamp      `json:"ts"`
	SentAt          string     `json:"sent_at"`
	Thread          stamp      `json:"thread_ts,omitzero"`
	ParentUser      *string    `json:"parent_user_id,omitzero"`
	IsParent        bool       `json:"is_thread_parent"`
	ReplyCount      *int64     `json:"reply_count,omitzero"`
	ReplyUsers      []string   `json:"reply_user_ids,omitzero"`
	LatestReply     stamp      `json:"latest_reply,omitzero"`
	Subtype         *string    `json:"subtype,omitzero"`
	IsTombstone     bool       `json:"is_tombstone"`
	Text            *string    `json:"text,omitzero"`
	BlockText       string     `json:"block_text,omitzero"`
	AttachmentText  string     `json:"attachment_text,omitzero"`
	Username        string     `json:"username,omitzero"`
	BotName         string     `json:"bot_name,omitzero"`
	App             string     `json:"app_id,omitzero"`
	EditedTS        stamp      `json:"edited_ts,omitzero"`
	EditedBy        string     `json:"edited_by,omitzero"`
	FileIDs         []string   `json:"file_ids,omitzero"`
	FileCount       int        `json:"file_count"`
	AttachmentCount int        `json:"attachment_count"`
	ReactionCount   int64      `json:"reaction_count"`
	Reactions       []reaction `json:"reactions,omitzero"`
	PinnedTo        []string   `json:"pinned_to,omitzero"`

	Attachments []jsontext.Value `json:"attachments,omitzero"`
}

// words fills the text from blocks or attachments where Slack has none, and keeps beside the text what they hold
// besides it.
func (r *messageRecord) words(blocks []jsontext.Value) {
	said := joinTexts(blocks, "\n")
	var lines []string
	for _, raw := range r.Attachments {
		lines = append(lines, attachmentText(raw))
	}
	attached := joinLines(lines)
	if r.Text != nil && *r.Text != "" {
		if !typed(blocks) && said != *r.Text {
			r.BlockText = said
		}
		r.AttachmentText = attached
		return
	}
	if text := joinLines([]string{said, attached}); text != "" {
		r.Text = &text
	}
}

// readMessage reads a message: its stamp, what it says of its thread, and its record; no stamp when it cannot be read.
func readMessage(conversation string, raw jsontext.Value) (stamp, known, connectorkit.Record) {
	var w struct {
		User        *string  `json:"user"`
		Bot         *string  `json:"bot_id"`
		Team        *string  `json:"team"`
		ClientID    *string  `json:"client_msg_id"`
		TS          stamp    `json:"ts"`
		Thread      stamp    `json:"thread_ts"`
		ParentUser  *string  `json:"parent_user_id"`
		ReplyCount  *int64   `json:"reply_count"`
		ReplyUsers  []string `json:"reply_users"`
		LatestReply stamp    `json:"latest_reply"`
		Subtype     *string  `json:"subtype"`
		Text        *string  `json:"text"`
		Edited      struct {
			User string `json:"user"`
			TS   stamp  `json:"ts"`
		} `json:"edited"`
		Files []struct {
			ID string `json:"id"`
		} `json:"files"`
		Attachments []jsontext.Value `json:"attachments"`
		Blocks      []jsontext.Value `json:"blocks"`
		Username    string           `json:"username"`
		App         string           `json:"app_id"`
		BotProfile  struct {
			Name string `json:"name"`
		} `json:"bot_profile"`
		Reactions []struct {
			Name  string   `json:"name"`
			Users []string `json:"users"`
			Count int64    `json:"count"`
		} `json:"reactions"`
		PinnedTo []string `json:"pinned_to"`
	}
	err := json.Unmarshal(raw, &w)
	at, real := w.TS.time()
	if err != nil || !real {
		return "", known{}, connectorkit.Unreadable(key(conversation, w.TS), err)
	}
	r := messageRecord{
		ID: key(conversation, w.TS), Channel: conversation, User: w.User, Bot: w.Bot, Team: w.Team, ClientID: w.ClientID, TS: w.TS, SentAt: at.Format(written), Thread: w.Thread,
		ParentUser: w.ParentUser, IsParent: w.Thread == w.TS, ReplyCount: w.ReplyCount, ReplyUsers: w.ReplyUsers, LatestReply: w.LatestReply, Subtype: w.Subtype,
		IsTombstone: w.Subtype != nil && *w.Subtype == "tombstone", Text: w.Text, EditedTS: w.Edited.TS, EditedBy: w.Edited.User, FileCount: len(w.Files), AttachmentCount: len(w.Attachments), PinnedTo: w.PinnedTo,
		Attachments: w.Attachments, Username: w.Username, BotName: w.BotProfile.Name, App: w.App,
	}
	r.words(w.Blocks)
	for _, f := range w.Files {
		r.FileIDs = append(r.FileIDs, f.ID)
	}
	for _, x := range w.Reactions {
		users := x.Users
		if users == nil {
			users = []string{}
		}
		r.Reactions = append(r.Reactions, reaction{x.Name, users, x.Count})
		r.ReactionCount += x.Count
	}
	thread := known{Latest: w.LatestReply}
	if w.ReplyCount != nil && w.Thread == w.TS {
		thread.Count = *w.ReplyCount
	}
	return w.TS, thread, connectorkit.Upsert(r)
}

type fileRecord struct {
	ID           string  `json:"id"`
	Name         *string `json:"name,omitzero"`
	Title        *string `json:"title,omitzero"`
	MIME         *string `json:"mimetype,omitzero"`
	Type         *string `json:"filetype,omitzero"`
	PrettyType   *string `json:"pretty_type,omitzero"`
	Size         *int64  `json:"size,omitzero"`
	Created      *int64  `json:"created,omitzero"`
	CreatedAt    string  `json:"created_at,omitzero"`
	Uploader     *string `json:"uploader_id,omitzero"`
	IsPublic     *bool   `json:"is_public,omitzero"`
	IsExternal   *bool   `json:"is_external,omitzero"`
	ExternalType *string `json:"external_type,omitzero"`
	Mode         *string `json:"mode,omitzero"`
	Permalink    *string `json:"permalink,omitzero"`
	URL          *string `json:"url_private,omitzero"`
}

// readFile gives nothing for one that was deleted: it is missing then.
func readFile(raw jsontext.Value) *connectorkit.ListItem {
	var r fileRecord
	if err := json.Unmarshal(raw, &r); err != nil || r.ID == "" {
		return &connectorkit.ListItem{Record: connectorkit.Unreadable(r.ID, err)}
	}
	if r.Mode != nil && *r.Mode == "tombstone" {
		return nil
	}
	var wire struct {
		User *string `json:"user"`
	}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return &connectorkit.ListItem{Record: connectorkit.Unreadable(r.ID, err)}
	}
	r.Uploader, r.CreatedAt = wire.User, moment(r.Created)
	return &connectorkit.ListItem{Key: r.ID, Record: connectorkit.Upsert(r)}
}
