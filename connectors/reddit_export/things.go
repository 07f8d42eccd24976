package redditexport

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// post is what the person published.
type post struct {
	ID        string            `json:"id"`
	CreatedAt string            `json:"created_at,omitzero"`
	Subreddit string            `json:"subreddit,omitzero"`
	Title     string            `json:"title,omitzero"`
	Body      string            `json:"body,omitzero"`
	URL       string            `json:"url,omitzero"`
	Permalink string            `json:"permalink,omitzero"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// comment is what the person answered.
type comment struct {
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

// mark is a post or a comment of anybody's that the person saved, hid or voted on.
type mark struct {
	ID        string            `json:"id"` // as Reddit's full names: t3_ for a post, t1_ for a comment
	Kind      string            `json:"kind"`
	IsPost    bool              `json:"is_post"`
	Subreddit string            `json:"subreddit,omitzero"`
	Direction string            `json:"direction,omitzero"`
	Permalink string            `json:"permalink,omitzero"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// community is one that the person has to do with.
type community struct {
	ID        string            `json:"id"`
	Subreddit string            `json:"subreddit"`
	Relation  string            `json:"relation"`
	Others    map[string]string `json:"other_columns,omitempty"`
}

// message is one of the older, private kind.
type message struct {
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

// chat is a message of a chat.
type chat struct {
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

// fact is a row of any other table, with its columns as they are.
type fact struct {
	ID     string            `json:"id"`
	Table  string            `json:"table"`
	Values map[string]string `json:"values"`
}

// tables are all that an export is known to have. Those of the last stream keep their columns.
var tables = []table{
	{"posts", []string{"posts"}, "posts", "posts of the person", []string{"id", "permalink", "title"}, postOf},
	{"comments", []string{"comments"}, "comments", "comments of the person", []string{"id", "permalink", "body"}, commentOf},
	{"saved posts", []string{"saved_posts"}, "saved", "posts that were saved", []string{"id", "permalink"}, marked("t3")},
	{"saved comments", []string{"saved_comments"}, "saved", "comments that were saved", []string{"id", "permalink"}, marked("t1")},
	{"post votes", []string{"post_votes"}, "votes", "votes on posts", []string{"id", "direction"}, marked("t3")},
	{"comment votes", []string{"comment_votes"}, "votes", "votes on comments", []string{"id", "direction"}, marked("t1")},
	{"hidden posts", []string{"hidden_posts"}, "hidden", "posts that were hidden", []string{"id", "permalink"}, marked("t3")},
	{"subscribed", []string{"subscribed_subreddits"}, "subreddits", "communities that are followed", []string{"subreddit"}, related("subscribed")},
	{"moderated", []string{"moderated_subreddits"}, "subreddits", "communities that are moderated", []string{"subreddit"}, related("moderated")},
	{"approved", []string{"approved_submitter_subreddits"}, "subreddits", "communities that approve posts", []string{"subreddit"}, related("approved")},
	{"messages", []string{"messages", "messages_archive"}, "messages", "private messages", []string{"id", "from", "to", "body"}, messageOf},
	{"chats", []string{"chat_history"}, "chat_messages", "messages of chats", []string{"message_id", "message"}, chatOf},
	{"other tables", []string{
		"account_gender", "announcements", "birthdate", "drafts", "friends", "gilded_content", "gold_received", "ip_logs", "linked_identities", "linked_phone_number",
		"live_stream_posts", "multireddits", "payouts", "persona", "poll_votes", "purchases", "reddit_gold_information", "scheduled_posts", "sensitive_ads_preferences",
		"statistics", "stripe", "subscriptions", "twitter", "user_preferences",
	}, "account_facts", "what else Reddit knows of the account", nil, factOf},
}

func postOf(r *row) (any, bool) {
	p := post{
		ID: r.text("id"), CreatedAt: r.time("date"), Subreddit: r.text("subreddit"), Title: r.text("title"), Body: r.text("body"), URL: r.text("url"), Permalink: r.text("permalink"),
	}
	p.Others = r.others()
	return p, p.ID != ""
}

func commentOf(r *row) (any, bool) {
	c := comment{
		ID: r.text("id"), CreatedAt: r.time("date"), Subreddit: r.text("subreddit"), Body: r.text("body"), Post: r.text("link"), Parent: r.text("parent"),
		Media: r.text("media"), Permalink: r.text("permalink"),
	}
	c.Others = r.others()
	return c, c.ID != ""
}

// marked is a row that names a thing and little more.
func marked(kind string) func(*row) (any, bool) {
	return func(r *row) (any, bool) {
		id := r.text("id")
		m := mark{ID: id, Kind: kind, IsPost: kind == "t3", Permalink: r.text("permalink"), Direction: strings.ToLower(strings.TrimSpace(r.text("direction")))}
		if !strings.HasPrefix(id, kind+"_") {
			m.ID = kind + "_" + id
		}
		m.Subreddit = subredditOf(m.Permalink)
		m.Others = r.others()
		return m, id != ""
	}
}

// subredditOf is the community that an address leads to; empty when it does not say.
func subredditOf(permalink string) string {
	_, rest, ok := strings.Cut(permalink, "/r/")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func related(relation string) func(*row) (any, bool) {
	return func(r *row) (any, bool) {
		name := strings.TrimSpace(r.text("subreddit"))
		return community{ID: relation + "/" + name, Subreddit: name, Relation: relation, Others: r.others()}, name != ""
	}
}

func messageOf(r *row) (any, bool) {
	m := message{
		ID: r.text("id"), SentAt: r.time("date"), ThreadID: r.text("thread_id"), From: r.text("from"), To: r.text("to"), Subject: r.text("subject"),
		Body: r.text("body"), Permalink: r.text("permalink"),
	}
	m.Others = r.others()
	return m, m.ID != ""
}

func chatOf(r *row) (any, bool) {
	c := chat{
		ID: r.text("message_id"), CreatedAt: r.time("created_at"), UpdatedAt: r.time("updated_at"), Username: r.text("username"), Message: r.text("message"),
		Parent: r.text("thread_parent_message_id"), Channel: r.text("channel_url"), Name: r.text("channel_name"), Kind: r.text("conversation_type"), Subreddit: r.text("subreddit"),
	}
	c.Others = r.others()
	return c, c.ID != ""
}

// factOf keeps a row as it is. Equal rows of a file are told apart by their number among equals.
func factOf(r *row) (any, bool) {
	f := fact{Table: r.file, Values: r.others()}
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

// timeOf reads a time as exports have them, which is in UTC; empty when there is none.
func timeOf(text string) string {
	text = strings.TrimSpace(text)
	for _, form := range []string{"2006-01-02 15:04:05 MST", "2006-01-02 15:04:05.999999 MST", time.RFC3339, "2006-01-02 15:04:05", "2006-01-02"} {
		if at, err := time.Parse(form, text); err == nil && at.Year() > 1 && at.Year() < 9999 {
			if _, offset := at.Zone(); strings.HasSuffix(form, "MST") && (offset != 0 || !strings.HasSuffix(text, "UTC")) {
				return "" // a zone that only a reader's own country could tell
			}
			return at.UTC().Format(time.RFC3339)
		}
	}
	return ""
}
