// Package slack collects what a person sees in a Slack workspace: conversations, messages with their threads, people and
// what is known of files.
//
//	manifest.json   what it declares: streams, schemas, the form for the token
//	slack.go        open: environment in, clients and collectors out
//	api.go          one request, one page of a list
//	inventory.go    lists whose absences are deletions: conversations, people, files
//	around.go       who is in conversations, what was read, user groups, reminders, stars
//	messages.go     the messages of each conversation, newest first, and what becomes of those of the last days
//	sweep.go        older messages again, part by part, for replies to their threads
//	thread.go       the replies of one thread
//	stamp.go        Slack's names of messages, which are times
//	map.go          how one thing of Slack's becomes one record
//	maparound.go    the same for the things of around.go
//	text.go         the words of blocks and attachments
//	classify.go     what an answer means
package slack

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit"
	"github.com/pdpp-go/pdpp/governor"
	"github.com/pdpp-go/pdpp/governor/governhttp"
)

//go:embed manifest.json
var manifestJSON []byte

// Connector is the Slack connector.
func Connector() connectorkit.Connector {
	return connectorkit.MustNew(manifestJSON, open)
}

const (
	publicAPI = "https://slack.com/api"
	// lookback is for how many days edits, reactions, replies and deletions are looked for.
	lookback = 7
)

var errLookback = errors.New("SLACK_LOOKBACK_DAYS must be a number of days from 1 to 365")

// open runs once per run. Slack counts each method for itself: lists, histories, threads and members are paced apart.
// Messages, which take longest, come last.
func open(ctx context.Context, s *connectorkit.Setup) ([]connectorkit.Collector, error) {
	days := lookback
	if text := s.Env("SLACK_LOOKBACK_DAYS"); text != "" {
		var err error
		if days, err = strconv.Atoi(text); err != nil || days < 1 || days > 365 {
			return nil, connectorkit.Fail(connectorkit.Malformed, errLookback)
		}
	}
	a := &api{counted: s.Counted, seen: map[string]int64{}}
	for _, part := range []struct {
		client **governhttp.Client
		name   string
		every  time.Duration
	}{{&a.lists, "", 3 * time.Second}, {&a.histories, "history", 1200 * time.Millisecond},
		{&a.threads, "replies", 1200 * time.Millisecond}, {&a.members, "members", 1200 * time.Millisecond}} {
		if err := s.SharedQuota(ctx, connectorkit.SharedQuota{Sender: part.name, Provider: "slack " + part.name,
			Account: s.Env("SLACK_TOKEN")}); err != nil {
			return nil, err
		}
		client, err := s.HTTP(governhttp.Options{
			BaseURL: cmp.Or(s.Env("PDPP_SLACK_BASE_URL"), publicAPI), Classify: classify,
			Header: http.Header{"Authorization": {"Bearer " + s.Env("SLACK_TOKEN")}},
			Sender: s.Sender(part.name, func(c *governor.Config) { c.Ceiling = part.every }),
		})
		if err != nil {
			return nil, err
		}
		*part.client = client
	}
	return []connectorkit.Collector{
		connectorkit.PagedStream{Stream: "workspace", Page: a.workspace},
		connectorkit.FullList{Stream: "channels", Page: inventory{a, "conversations.list", "channels", readChannel}.page,
			Remembered: remembered},
		connectorkit.FullList{Stream: "users", Page: inventory{a, "users.list", "members", readUser}.page,
			Remembered: remembered},
		connectorkit.FullList{Stream: "files", Page: a.files, Remembered: remembered},
		connectorkit.FullList{Stream: "user_groups",
			Page: permitted("user groups",
				a.single("usergroups.list", "usergroups", url.Values{"include_users": {"true"}, "include_disabled": {"true"}},
					readGroup))},
		connectorkit.FullList{Stream: "reminders",
			Page: permitted("reminders", a.single("reminders.list", "reminders", nil, readReminder))},
		connectorkit.FullList{Stream: "stars", Page: permitted("stars", a.starred), Remembered: remembered},
		connectorkit.FullList{Stream: "channel_memberships", Page: a.memberships, Remembered: rememberedMembers},
		connectorkit.PagedStream{Stream: "channel_stats", Page: a.stats},
		connectorkit.PagedStream{Stream: "dm_read_states", Page: a.readStates},
		connectorkit.PagedStream{Stream: "messages", Page: (&messages{api: a, days: days}).page},
	}, nil
}

// remembered is how many pages of a list a bookmark holds: 20,000 things.
const remembered = 100

// rememberedMembers is the same for members, of which a page holds those of one conversation.
const rememberedMembers = 1000
