// Package slack collects what a person sees in a Slack workspace: conversations, messages with their threads, people
// and what is known of files.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	slack.go        where the lists are
//	fields.go       where the members of records come from
//	api.go          the person's conversations, pages of messages
//	messages.go     the messages of each conversation, newest first, and what becomes of those of the last days
//	sweep.go        older messages again, part by part, for replies to their threads
//	thread.go       the replies of one thread
//	stamp.go        Slack's names of messages, which are times
//	map.go          how one message becomes one record
//	text.go         the words of blocks and attachments
//	classify.go     what an answer means
package slack

import (
	"context"
	_ "embed"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/connectorkit/rest"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Slack connector.
func Connector() connectorkit.Connector { return rest.MustNew(manifestJSON, source) }

func every(d time.Duration) func(*governor.Config) {
	return func(c *governor.Config) { c.Ceiling = d }
}

// Pools of requests: Slack limits each method separately.
const (
	historyPool = "history"
	repliesPool = "replies"
	membersPool = "members"
)

var source = rest.Source{
	BaseURL: "https://slack.com/api",
	Auth:    rest.BearerKey("SLACK_TOKEN"),
	QuotaOf: []string{"SLACK_TOKEN"},
	Pace:    every(3 * time.Second),
	Pools: []rest.Pool{{Name: historyPool, Pace: every(1200 * time.Millisecond)},
		{Name: repliesPool, Pace: every(1200 * time.Millisecond)}, {Name: membersPool, Pace: every(1200 * time.Millisecond)}},
	Inspect: classifyResponse,
	Client: func(s *connectorkit.Setup, _ *governhttp.Options) error {
		_, err := rereadDays(s)
		return err
	},
	Account: &rest.Lookup{Request: rest.Request{Path: "auth.test"}, Member: "team_id", Further: []string{"user_id"}},
	// Messages take longest and come last.
	Streams: []rest.Stream{
		{Name: "workspace", Request: rest.Request{Path: "team.info"}, Items: "team", Fields: workspaceFields,
			Sync: rest.SingleObject{}},
		{Name: "channels", Request: largestPages("conversations.list", "types", "public_channel,private_channel,mpim,im",
			"exclude_archived", "false"), Items: "channels", Pages: cursorPages, Fields: channelFields},
		{Name: "users", Request: largestPages("users.list"), Items: "members", Pages: cursorPages, Fields: userFields},
		// The metadata of files. A deleted file counts as absent.
		numbered(rest.Stream{Name: "files", Request: rest.Request{Path: "files.list"}, Items: "files", Fields: fileFields,
			Deleted: rest.Match{Path: "mode", Values: []string{`"tombstone"`}}}),
		{Name: "user_groups", Request: rest.Request{Path: "usergroups.list",
			Query: url.Values{"include_users": {"true"}, "include_disabled": {"true"}}}, Items: "usergroups",
			Fields: groupFields, Optional: rest.IfForbidden},
		{Name: "reminders", Request: rest.Request{Path: "reminders.list"}, Items: "reminders", Fields: reminderFields,
			Optional: rest.IfForbidden},
		numbered(rest.Stream{Name: "stars", Request: rest.Request{Path: "stars.list"}, Items: "items", Fields: starFields,
			Optional: rest.IfForbidden}),
		// The record of a direct message names the other person already.
		{Name: "channel_memberships", Request: largestPages("conversations.members", "channel", "{id}"), Items: "members",
			Pages: cursorPages, Pool: membersPool, Partitions: conversations(isGroup), Read: readMembership, Shared: true,
			Sync: rest.FullList{Remembered: 1000, Walked: compareMembers}},
		{Name: "channel_stats", Collect: collectMemberStats},
		// How far the person has read each direct message, once a day: a request for each of them.
		{Name: "dm_read_states", Request: rest.Request{Path: "conversations.info", Query: url.Values{"channel": {"{id}"}}},
			Pool: membersPool, Partitions: conversations(isDirect), Fields: readStateFields, Sync: rest.DailySample{},
			Select: func(a *rest.Answer) ([]jsontext.Value, error) { return []jsontext.Value{a.Member("channel")}, nil }},
		{Name: "messages", Collect: collectMessages},
	},
}

var cursorPages = rest.NextToken{Param: "cursor", Member: "response_metadata.next_cursor"}

// largestPages is a request for the largest pages that Slack recommends.
func largestPages(method string, pairs ...string) rest.Request {
	q := url.Values{"limit": {maxPageSize}}
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return rest.Request{Path: method, Query: q}
}

// numbered is a list with numbers of pages. A plan may hide old things that Slack still counts, so the total is shown
// and decides nothing.
func numbered(s rest.Stream) rest.Stream {
	s.Query = url.Values{"count": {"100"}}
	s.Pages = rest.PageNumber{Param: "page", Last: "paging.pages"}
	s.Shared = true
	s.Sync = rest.FullList{Walked: func(r *rest.Run, last *rest.Answer, items []rest.Item) {
		if total, err := strconv.ParseInt(last.Text("paging.total"), 10, 64); err == nil {
			r.Setup.CompareCount(s.Name, "GET api/"+s.Path, "paging/total", total, int64(len(items)))
		}
	}}
	return s
}

// conversations are the ones that the person is in.
func conversations(admit func(rest.Item) bool) rest.Partitions {
	return rest.ParentsOf("channels", "id", map[string]string{"user": "user"},
		func(i rest.Item) bool { return isJoined(i) && admit(i) })
}

func isDirect(i rest.Item) bool {
	return i.Is(rest.Match{Path: "is_im"}) || i.Is(rest.Match{Path: "is_mpim"})
}

func isGroup(i rest.Item) bool { return !i.Is(rest.Match{Path: "is_im"}) }
func hasID(i rest.Item) bool   { return i.Member("id").Kind() == '"' && i.Text("id") != "" }
func isJoined(i rest.Item) bool {
	return hasID(i) && (isDirect(i) || i.Is(rest.Match{Path: "is_member"}))
}

// compareMembers compares the number of members that the list of conversations has with those that were listed.
func compareMembers(r *rest.Run, _ *rest.Answer, items []rest.Item) {
	listed, announced := map[string]int64{}, map[string]string{}
	for _, i := range items {
		listed[i.Partition.ID]++
		announced[i.Partition.ID] = rest.Item{Raw: i.Partition.Parent}.Text("num_members")
	}
	for id, text := range announced {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			r.Setup.CompareCount("channel_memberships", "GET api/conversations.list", "channels/[]/num_members", n, listed[id])
		}
	}
}

// collectMemberStats notes once a day how many members each conversation has.
func collectMemberStats(r *rest.Run) connectorkit.Collector {
	return connectorkit.PagedStream{Stream: "channel_stats", Page: func(ctx context.Context, at connectorkit.Cursor) (
		connectorkit.Page, error) {
		account, err := r.Account(ctx)
		if err != nil {
			return connectorkit.Page{}, err
		}
		day := r.Now().UTC().Format(time.DateOnly)
		out := connectorkit.Page{Next: connectorkit.Cursor{"day": day, "account": account}}
		if at["day"] == day && at["account"] == account {
			return out, nil
		}
		all, err := r.Items(ctx, "channels")
		for _, i := range all {
			if n, err := strconv.ParseInt(i.Text("num_members"), 10, 64); err == nil && hasID(i) {
				out.Records = append(out.Records, connectorkit.Upsert(statRecord{ID: i.Text("id") + ":" + day,
					Channel: i.Text("id"), Day: day, Members: n}))
			}
		}
		return out, err
	}}
}
