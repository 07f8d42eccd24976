package redditexport

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// postRecord is what the person published.
type postRecord struct {
	ID        string            `json:"id"`
	CreatedAt string            `json:"created_at,omitzero"`
	Subreddit string            `json:"subreddit,omitzero"`
	Title     string            `json:"title,omitzero"`
	Body      string            `json:"body,omitzero"`
	URL       string            `json:"url,omitzero"`
	Permalink string            `json:"permalink,omitzero"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// commentRecord is what the person answered.
type commentRecord struct {
	ID        string            `json:"id"`
	CreatedAt string            `json:"created_at,omitzero"`
	Subreddit string            `json:"subreddit,omitzero"`
	Body      string            `json:"body,omitzero"`
	Post      string            `json:"post_link,omitzero"`
	Parent    string            `json:"parent_id,omitzero"`
	Media     string            `json:"media,omitzero"`
	Permalink string            `json:"permalink,omitzero"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// markRecord is a post or comment, of any author, that the person saved, hid or voted on.
type markRecord struct {
	ID        string            `json:"id"` // as Reddit's full names: t3_ for a post, t1_ for a comment
	Kind      string            `json:"kind"`
	IsPost    bool              `json:"is_post"`
	Subreddit string            `json:"subreddit,omitzero"`
	Direction string            `json:"direction,omitzero"`
	Permalink string            `json:"permalink,omitzero"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// communityRecord is one that the person has to do with.
type communityRecord struct {
	ID        string            `json:"id"`
	Subreddit string            `json:"subreddit"`
	Relation  string            `json:"relation"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// messageRecord is one of the older, private kind.
type messageRecord struct {
	ID        string            `json:"id"`
	SentAt    string            `json:"sent_at,omitzero"`
	ThreadID  string            `json:"thread_id,omitzero"`
	From      string            `json:"from,omitzero"`
	To        string            `json:"to,omitzero"`
	Subject   string            `json:"subject,omitzero"`
	Body      string            `json:"body,omitzero"`
	Permalink string            `json:"permalink,omitzero"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// chatMessageRecord is a message of a chat.
type chatMessageRecord struct {
	ID        string            `json:"id"`
	CreatedAt string            `json:"created_at,omitzero"`
	UpdatedAt string            `json:"updated_at,omitzero"`
	Username  string            `json:"username,omitzero"`
	Message   string            `json:"message,omitzero"`
	Parent    string            `json:"parent_message_id,omitzero"`
	Channel   string            `json:"channel_url,omitzero"`
	Name      string            `json:"channel_name,omitzero"`
	Kind      string            `json:"conversation_type,omitzero"`
	Subreddit string            `json:"subreddit,omitzero"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// otherRowRecord is a row of any other table, with its columns as they are.
type otherRowRecord struct {
	ID     string            `json:"id"`
	Table  string            `json:"table"`
	Values map[string]string `json:"values"`
}

// exportTables are all that an export is known to have. Those of the last stream keep their columns.
var exportTables = []exportTable{
	{"posts", []string{"posts"}, "posts", "posts of the person", []string{"id", "permalink", "title"}, postFromRow},
	{"comments", []string{"comments"}, "comments", "comments of the person", []string{"id", "permalink", "body"},
		commentFromRow},
	{"saved posts", []string{"saved_posts"}, "saved", "posts that were saved", []string{"id", "permalink"},
		markFromRow("t3")},
	{"saved comments", []string{"saved_comments"}, "saved", "comments that were saved", []string{"id", "permalink"},
		markFromRow("t1")},
	{"post votes", []string{"post_votes"}, "votes", "votes on posts", []string{"id", "direction"}, markFromRow("t3")},
	{"comment votes", []string{"comment_votes"}, "votes", "votes on comments", []string{"id", "direction"},
		markFromRow("t1")},
	{"hidden posts", []string{"hidden_posts"}, "hidden", "posts that were hidden", []string{"id", "permalink"},
		markFromRow("t3")},
	{"subscribed", []string{"subscribed_subreddits"}, "subreddits", "communities that are followed", []string{"subreddit"},
		communityFromRow("subscribed")},
	{"moderated", []string{"moderated_subreddits"}, "subreddits", "communities that are moderated", []string{"subreddit"},
		communityFromRow("moderated")},
	{"approved", []string{"approved_submitter_subreddits"}, "subreddits", "communities that approve posts",
		[]string{"subreddit"}, communityFromRow("approved")},
	{"messages", []string{"messages", "messages_archive"}, "messages", "private messages",
		[]string{"id", "from", "to", "body"}, messageFromRow},
	{"chats", []string{"chat_history"}, "chat_messages", "messages of chats", []string{"message_id", "message"},
		chatFromRow},
	{"other tables", []string{
		"account_gender", "announcements", "birthdate", "drafts", "friends", "gilded_content", "gold_received", "ip_logs",
		"linked_identities", "linked_phone_number",
		"live_stream_posts", "multireddits", "payouts", "persona", "poll_votes", "purchases", "reddit_gold_information",
		"scheduled_posts", "sensitive_ads_preferences",
		"statistics", "stripe", "subscriptions", "twitter", "user_preferences",
	}, "account_facts", "what else Reddit knows of the account", nil, otherFromRow},
}

func postFromRow(r *tableRow) (any, bool) {
	p := postRecord{
		ID: r.takeText("id"), CreatedAt: r.takeTime("date"), Subreddit: r.takeText("subreddit"), Title: r.takeText("title"),
		Body: r.takeText("body"), URL: r.takeText("url"), Permalink: r.takeText("permalink"),
	}
	p.Others = r.remainingColumns()
	return p, p.ID != ""
}

func commentFromRow(r *tableRow) (any, bool) {
	c := commentRecord{
		ID: r.takeText("id"), CreatedAt: r.takeTime("date"), Subreddit: r.takeText("subreddit"), Body: r.takeText("body"),
		Post: r.takeText("link"), Parent: r.takeText("parent"),
		Media: r.takeText("media"), Permalink: r.takeText("permalink"),
	}
	c.Others = r.remainingColumns()
	return c, c.ID != ""
}

// markFromRow returns a mapper of rows that refer to a post or comment.
func markFromRow(kind string) func(*tableRow) (any, bool) {
	return func(r *tableRow) (any, bool) {
		id := r.takeText("id")
		m := markRecord{ID: id, Kind: kind, IsPost: kind == "t3", Permalink: r.takeText("permalink"),
			Direction: strings.ToLower(strings.TrimSpace(r.takeText("direction")))}
		if !strings.HasPrefix(id, kind+"_") {
			m.ID = kind + "_" + id
		}
		m.Subreddit = subredditOf(m.Permalink)
		m.Others = r.remainingColumns()
		return m, id != ""
	}
}

// subredditOf returns the community of an address; empty when it has none.
func subredditOf(permalink string) string {
	_, rest, ok := strings.Cut(permalink, "/r/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func communityFromRow(relation string) func(*tableRow) (any, bool) {
	return func(r *tableRow) (any, bool) {
		name := strings.TrimSpace(r.takeText("subreddit"))
		return communityRecord{ID: relation + "/" + name, Subreddit: name, Relation: relation, Others: r.remainingColumns()},
			name != ""
	}
}

func messageFromRow(r *tableRow) (any, bool) {
	m := messageRecord{
		ID: r.takeText("id"), SentAt: r.takeTime("date"), ThreadID: r.takeText("thread_id"), From: r.takeText("from"),
		To:      r.takeText("to"),
		Subject: r.takeText("subject"),
		Body:    r.takeText("body"), Permalink: r.takeText("permalink"),
	}
	m.Others = r.remainingColumns()
	return m, m.ID != ""
}

func chatFromRow(r *tableRow) (any, bool) {
	c := chatMessageRecord{
		ID: r.takeText("message_id"), CreatedAt: r.takeTime("created_at"), UpdatedAt: r.takeTime("updated_at"),
		Username: r.takeText("username"), Message: r.takeText("message"),
		Parent: r.takeText("thread_parent_message_id"), Channel: r.takeText("channel_url"), Name: r.takeText("channel_name"),
		Kind: r.takeText("conversation_type"), Subreddit: r.takeText("subreddit"),
	}
	c.Others = r.remainingColumns()
	return c, c.ID != ""
}

// otherFromRow keeps a row as it is. Equal rows of a file get different numbers.
func otherFromRow(r *tableRow) (any, bool) {
	f := otherRowRecord{Table: r.file, Values: r.remainingColumns()}
	sum := sha256.Sum256([]byte(strings.Join(r.head, "\x00") + "\x01" + strings.Join(r.cells, "\x00")))
	key := [8]byte(sum[:8])
	n := r.times[key]
	r.times[key]++
	f.ID = f.Table + "/" + hex.EncodeToString(sum[:12])
	if n > 0 {
		f.ID += "/" + strconv.FormatUint(uint64(n), 10)
	}
	return f, len(f.Values) > 0
}

// parseExportTime parses a time of an export, which is in UTC; empty when there is none.
func parseExportTime(text string) string {
	text = strings.TrimSpace(text)
	for _, form := range []string{"2006-01-02 15:04:05 MST", "2006-01-02 15:04:05.999999 MST", time.RFC3339,
		"2006-01-02 15:04:05", "2006-01-02"} {
		if at, err := time.Parse(form, text); err == nil && at.Year() > 1 && at.Year() < 9999 {
			if _, offset := at.Zone(); strings.HasSuffix(form, "MST") && (offset != 0 || !strings.HasSuffix(text, "UTC")) {
				return "" // an ambiguous zone abbreviation
			}
			return at.UTC().Format(time.RFC3339)
		}
	}
	return ""
}
