package files

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"time"
)

// Reddit makes a folder with exports of a Reddit account.
func Reddit(dir string, c Config) (World, error) { return newImports(dir, c, &redditAccount{}) }

type redditAccount struct {
	posts, comments, saved, votes, messages, chats []redditTableRow
	subreddits                                     []string
	newer                                          bool
}

// redditTableRow is a row of a table, and the record that it is.
type redditTableRow struct {
	cells map[string]string
	item  Item
}

func (*redditAccount) exportName(*Tree) string { return "export_mara_20260301" }

func (r *redditAccount) growAccount(t *Tree) {
	t.advanceClock()
	n := len(r.posts)
	at := t.clock.UTC().Truncate(time.Second)
	date, stamp := at.Format("2006-01-02 15:04:05")+" UTC", at.Format(time.RFC3339)
	community := sampleWords[t.rng.IntN(len(sampleWords))]
	text := strings.TrimSpace(strings.ReplaceAll(t.randomSentence(), "\x01", "")) + "\n\"Quoted\", and more\n"
	id := fmt.Sprintf("1p%d", n)
	link := fmt.Sprintf("https://www.reddit.com/r/%s/comments/%s/a_title/", community, id)
	r.posts = append(r.posts, redditTableRow{
		map[string]string{"id": id, "permalink": link, "date": date, "ip": "192.0.2.7", "subreddit": community,
			"gildings": "0", "title": "Tide, " + id, "url": link, "body": text},
		Item{Stream: "posts", Key: id, Fields: map[string]any{"created_at": stamp, "subreddit": community, "title": "Tide, " +
			id, "body": text, "url": link, "permalink": link,
			"other_columns": map[string]any{"ip": "192.0.2.7", "gildings": "0"}}},
	})
	answer := fmt.Sprintf("kx%d", n)
	r.comments = append(r.comments, redditTableRow{
		map[string]string{"id": answer, "permalink": link + answer + "/", "date": date, "subreddit": community, "link": link,
			"parent": "kx0", "body": text},
		Item{Stream: "comments", Key: answer, Fields: map[string]any{"created_at": stamp, "subreddit": community,
			"body": text, "post_link": link, "parent_id": "kx0", "permalink": link + answer + "/"}},
	})
	kind, table := "t3", "posts"
	if t.rng.IntN(2) == 0 {
		kind, table = "t1", "comments"
	}
	named := func(stream, direction string) redditTableRow {
		fields := map[string]any{"kind": kind, "is_post": kind == "t3", "subreddit": community, "permalink": link}
		if direction != "" {
			fields["direction"] = direction
		}
		return redditTableRow{map[string]string{"table": table, "id": id, "permalink": link, "direction": direction},
			Item{Stream: stream, Key: kind + "_" + id, Fields: fields}}
	}
	r.saved = append(r.saved, named("saved", ""))
	r.votes = append(r.votes, named("votes", []string{"up", "down", "none"}[t.rng.IntN(3)]))
	if n%3 == 0 {
		key := fmt.Sprintf("m%d", n)
		r.messages = append(r.messages, redditTableRow{
			map[string]string{"id": key, "permalink": "https://www.reddit.com/message/messages/" + key, "thread_id": "m0",
				"date": date, "from": "mara", "to": "jorn", "subject": "Boats", "body": text},
			Item{Stream: "messages", Key: key, Fields: map[string]any{"sent_at": stamp, "thread_id": "m0", "from": "mara",
				"to": "jorn", "subject": "Boats", "body": text}},
		})
		r.chats = append(r.chats, redditTableRow{
			map[string]string{"message_id": "c" + key, "created_at": date, "updated_at": date, "username": "jorn",
				"message": text, "channel_url": "https://chat.reddit.com/room/1", "channel_name": "Harbour",
				"conversation_type": "direct"},
			Item{Stream: "chat_messages", Key: "c" + key, Fields: map[string]any{"created_at": stamp, "updated_at": stamp,
				"username": "jorn", "message": text, "channel_url": "https://chat.reddit.com/room/1", "channel_name": "Harbour",
				"conversation_type": "direct"}},
		})
	}
	if !strings.Contains(strings.Join(r.subreddits, " "), community) {
		r.subreddits = append(r.subreddits, community)
	}
}

// csvTableMember writes a table with the rows that belong to it.
func csvTableMember(name, header string, rows []redditTableRow, table string) Member {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	columns := strings.Split(header, ",")
	_ = w.Write(columns) // into memory
	m := Member{Name: name}
	for _, row := range rows {
		if row.cells["table"] != table {
			continue
		}
		var cells []string
		for _, column := range columns {
			cells = append(cells, row.cells[column])
		}
		_ = w.Write(cells) // into memory
		m.Items = append(m.Items, row.item)
	}
	w.Flush()
	m.Content = b.Bytes()
	return m
}

// exportMembers alternates between the forms that the service has had: messages under another name, and
// large tables in parts.
func (r *redditAccount) exportMembers(*Tree) []Member {
	r.newer = !r.newer
	messages := "messages.csv"
	half := 0
	if r.newer {
		messages, half = "messages_archive.csv", len(r.votes)/2
	}
	const marks = "id,permalink"
	out := []Member{
		csvTableMember("posts.csv", "id,permalink,date,ip,subreddit,gildings,title,url,body", r.posts, ""),
		csvTableMember("comments.csv", "id,permalink,date,ip,subreddit,gildings,link,parent,body,media", r.comments, ""),
		csvTableMember("saved_posts.csv", marks, r.saved, "posts"),
		csvTableMember("saved_comments.csv", marks, r.saved, "comments"),
		csvTableMember("comment_votes.csv", marks+",direction", r.votes, "comments"),
		csvTableMember(messages, "id,permalink,thread_id,date,ip,from,to,subject,body", r.messages, ""),
		csvTableMember("chat_history.csv",
			"message_id,created_at,updated_at,username,message,thread_parent_message_id,channel_url,subreddit,channel_name,"+
				"conversation_type", r.chats, ""),
		{Name: "post_headers.csv", Content: []byte("id,permalink,date\n")},
		{Name: "checkfile.csv", Content: []byte("filename,sha256\n")},
	}
	if half > 0 {
		out = append(out, csvTableMember("post_votes_1.csv", marks+",direction", r.votes[:half], "posts"),
			csvTableMember("post_votes_2.csv", marks+",direction", r.votes[half:], "posts"))
	} else {
		out = append(out, csvTableMember("post_votes.csv", marks+",direction", r.votes, "posts"))
	}
	followed := Member{Name: "subscribed_subreddits.csv",
		Content: []byte("subreddit\n" + strings.Join(r.subreddits, "\n") + "\n")}
	for _, name := range r.subreddits {
		followed.Items = append(followed.Items,
			Item{Stream: "subreddits", Key: "subscribed/" + name,
				Fields: map[string]any{"subreddit": name, "relation": "subscribed"}})
	}
	known := Member{Name: "statistics.csv", Content: []byte("statistic,value\naccount name,mara\n")}
	known.Items = []Item{{Stream: "account_facts",
		Fields: map[string]any{"table": "statistics",
			"values": map[string]any{"statistic": "account name", "value": "mara"}}}}
	return append(out, followed, known)
}

func (r *redditAccount) hostileMembers(*Tree) []Member {
	return []Member{{
		Name: "saved_posts.csv", Content: []byte("\xef\xbb\xbfid,permalink,shade\r\nkept1,https://www.reddit.com/r/boats/" +
			"comments/kept1/x/,blue\r\n,no id,\r\n\"never closed,x\r\nkept2\r\n\x00\x00\r\n"),
		Items: []Item{
			{Stream: "saved", Key: "t3_kept1",
				Fields: map[string]any{"kind": "t3", "permalink": "https://www.reddit.com/r/boats/comments/kept1/x/",
					"other_columns": map[string]any{"shade": "blue"}}},
			{Stream: "saved", Key: "t3_kept2", Fields: map[string]any{"kind": "t3"}},
		},
	}}
}
