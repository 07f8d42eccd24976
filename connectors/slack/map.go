package slack

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// messageKey returns the key of a message. A stamp is unique only within its conversation.
func messageKey(conversation string, ts messageStamp) string { return conversation + ":" + string(ts) }

type messageReaction struct {
	Name  string   `json:"emoji"`
	Users []string `json:"user_ids"`
	Count int64    `json:"count"` // may be more than the users that are named
}

type messageRecord struct {
	ID              string            `json:"id"`
	Channel         string            `json:"channel_id"`
	User            *string           `json:"user_id,omitzero"`
	Bot             *string           `json:"bot_id,omitzero"`
	Team            *string           `json:"team_id,omitzero"`
	ClientID        *string           `json:"client_msg_id,omitzero"`
	TS              messageStamp      `json:"ts"`
	SentAt          string            `json:"sent_at"`
	Thread          messageStamp      `json:"thread_ts,omitzero"`
	ParentUser      *string           `json:"parent_user_id,omitzero"`
	IsParent        bool              `json:"is_thread_parent"`
	ReplyCount      *int64            `json:"reply_count,omitzero"`
	ReplyUsers      []string          `json:"reply_user_ids,omitzero"`
	LatestReply     messageStamp      `json:"latest_reply,omitzero"`
	Subtype         *string           `json:"subtype,omitzero"`
	IsTombstone     bool              `json:"is_tombstone"`
	Text            *string           `json:"text,omitzero"`
	BlockText       string            `json:"block_text,omitzero"`
	AttachmentText  string            `json:"attachment_text,omitzero"`
	Username        string            `json:"username,omitzero"`
	BotName         string            `json:"bot_name,omitzero"`
	App             string            `json:"app_id,omitzero"`
	EditedTS        messageStamp      `json:"edited_ts,omitzero"`
	EditedBy        string            `json:"edited_by,omitzero"`
	FileIDs         []string          `json:"file_ids,omitzero"`
	FileCount       int               `json:"file_count"`
	AttachmentCount int               `json:"attachment_count"`
	ReactionCount   int64             `json:"reaction_count"`
	Reactions       []messageReaction `json:"reactions,omitzero"`
	PinnedTo        []string          `json:"pinned_to,omitzero"`

	Attachments []jsontext.Value `json:"attachments,omitzero"`
}

// fillText sets the text from blocks or attachments where Slack has none, and stores their additional text.
func (r *messageRecord) fillText(blocks []jsontext.Value) {
	message := joinTexts(blocks, "\n")
	var lines []string
	for _, raw := range r.Attachments {
		lines = append(lines, attachmentText(raw))
	}
	attached := joinLines(lines)
	if r.Text != nil && *r.Text != "" {
		if !isTypedRichText(blocks) && message != *r.Text {
			r.BlockText = message
		}
		r.AttachmentText = attached
		return
	}
	if text := joinLines([]string{message, attached}); text != "" {
		r.Text = &text
	}
}

// readMessage reads a message: its stamp, the state of its thread, and its record. The stamp is empty when the
// message cannot be read.
func readMessage(conversation string, raw jsontext.Value) (messageStamp, knownMessage, connectorkit.Record) {
	var w struct {
		User        *string      `json:"user"`
		Bot         *string      `json:"bot_id"`
		Team        *string      `json:"team"`
		ClientID    *string      `json:"client_msg_id"`
		TS          messageStamp `json:"ts"`
		Thread      messageStamp `json:"thread_ts"`
		ParentUser  *string      `json:"parent_user_id"`
		ReplyCount  *int64       `json:"reply_count"`
		ReplyUsers  []string     `json:"reply_users"`
		LatestReply messageStamp `json:"latest_reply"`
		Subtype     *string      `json:"subtype"`
		Text        *string      `json:"text"`
		Edited      struct {
			User string       `json:"user"`
			TS   messageStamp `json:"ts"`
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
	at, real := w.TS.stampTime()
	if err != nil || !real {
		return "", knownMessage{}, connectorkit.Unreadable(messageKey(conversation, w.TS), err)
	}
	r := messageRecord{
		ID: messageKey(conversation, w.TS), Channel: conversation, User: w.User, Bot: w.Bot, Team: w.Team,
		ClientID: w.ClientID,
		TS:       w.TS, SentAt: at.Format(recordTimeLayout), Thread: w.Thread,
		ParentUser: w.ParentUser, IsParent: w.Thread == w.TS, ReplyCount: w.ReplyCount, ReplyUsers: w.ReplyUsers,
		LatestReply: w.LatestReply, Subtype: w.Subtype,
		IsTombstone: w.Subtype != nil && *w.Subtype == "tombstone", Text: w.Text, EditedTS: w.Edited.TS,
		EditedBy: w.Edited.User, FileCount: len(w.Files), AttachmentCount: len(w.Attachments), PinnedTo: w.PinnedTo,
		Attachments: w.Attachments, Username: w.Username, BotName: w.BotProfile.Name, App: w.App,
	}
	r.fillText(w.Blocks)
	for _, f := range w.Files {
		r.FileIDs = append(r.FileIDs, f.ID)
	}
	for _, x := range w.Reactions {
		users := x.Users
		if users == nil {
			users = []string{}
		}
		r.Reactions = append(r.Reactions, messageReaction{x.Name, users, x.Count})
		r.ReactionCount += x.Count
	}
	thread := knownMessage{Latest: w.LatestReply}
	if w.ReplyCount != nil && w.Thread == w.TS {
		thread.Count = *w.ReplyCount
	}
	return w.TS, thread, connectorkit.Upsert(r)
}
