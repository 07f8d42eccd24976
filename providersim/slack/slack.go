package slack

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Config sets what the simulated workspace holds and how strict its provider is.
type Config struct {
	Seed                   uint64
	Channels, Users, Files int
	Messages               int // of each channel, nine hours apart
	MaxPage                int // things in a page of a list (200)
	Rate                   int // requests of each method that a token may make in any minute; zero is no limit

	Token             string           // the first token; empty means one derived from Seed
	Now               func() time.Time // clock of the data, the limit and the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// Slack is one simulated workspace. It is safe for concurrent use.
type Slack struct {
	*rest.Service
	cfg      Config
	lastTS   time.Time
	samples  map[string]jsonObject // numbers of members by channel and day
	sampled  string                // the last day with samples
	expire   int                   // cursors to refuse
	nameless bool                  // auth.test does not name the token's owner
	narrow   bool
	sealed   bool // threads may not be read
}

// New returns a workspace generated from cfg.
func New(cfg Config) *Slack {
	cfg.MaxPage = cmp.Or(cfg.MaxPage, 200)
	s := &Slack{cfg: cfg, samples: map[string]jsonObject{}}
	s.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("xoxp-%016x", cfg.Seed)),
		Now: cfg.Now, Errors: renderError, Guard: s.guard, Truth: s.truth,
		Limit: rest.Limit{Rate: cfg.Rate, Window: time.Minute, Penalty: 30 * time.Second,
			By: func(r *http.Request) string { return r.URL.Path }}})
	s.Operations = s.operations()
	s.handleRoutes()
	s.generateAccount()
	return s
}

// operations are the mutations of the control port. They change the last days.
func (s *Slack) operations() map[string]func() string {
	set := func(flag *bool, value bool) func() string { return func() string { *flag = value; return "" } }
	on := func(fits func(*rest.Row) bool, do func(m *rest.Row) string) func() string {
		return func() string {
			if m := rest.Pick(s.Service, s.readableMessages(), fits); m != nil {
				return do(m)
			}
			return rest.NoRow
		}
	}
	edit := func(change func(m *rest.Row)) func() string {
		return on(s.isRecent, func(m *rest.Row) string { change(m); return m.ID })
	}
	reply := func(m *rest.Row) string { return s.addMessage(m, s.nextMoment()).ID }
	hasReplies := func(m *rest.Row) bool { return s.isRecent(m) && len(s.Live(m.ID)) > 0 }
	channel := func() *rest.Row { return rest.Pick(s.Service, s.Live(StreamChannels), isRead) }
	return map[string]func() string{
		"say":   func() string { return s.addMessage(channel(), s.nextMoment()).ID },
		"reply": on(s.isRecent, reply),
		// A person replies to a message that is older than two weeks; its place in the history stays.
		"reply_old": on(func(m *rest.Row) bool { return m.ID < s.stampDaysAgo(14) }, reply),
		"react": edit(func(m *rest.Row) {
			m.Data["reactions"] = []jsonObject{{"name": "eyes", "users": []string{"U0002"}, "count": 1}}
		}),
		"edit": edit(func(m *rest.Row) {
			m.Data["text"] = m.Data["text"].(string) + " edited"
			m.Data["edited"] = jsonObject{"user": ownUser, "ts": stamp(s.nextMoment(), s.NextID())}
		}),
		"delete": edit(func(m *rest.Row) { m.Gone = true }),
		// The newest message of a channel: nothing above it shows that it is missing.
		"delete_newest": on(s.isRecent, func(*rest.Row) string {
			newest := slices.MaxFunc(s.readableMessages(), func(x, y *rest.Row) int { return strings.Compare(x.ID, y.ID) })
			newest.Gone = true
			return newest.ID
		}),
		"delete_reply": on(hasReplies, func(m *rest.Row) string {
			r := s.Live(m.ID)[0]
			r.Gone = true
			return r.ID
		}),
		"delete_thread": on(hasReplies, func(m *rest.Row) string { // all replies of one message
			for _, r := range s.Rows[m.ID] {
				r.Gone = true
			}
			return m.ID
		}),
		"upload":      func() string { return s.addFile().ID },
		"delete_file": func() string { return s.Delete(StreamFiles, nil) },
		"rename": func() string {
			c := channel()
			c.Data["topic"] = jsonObject{"value": "another topic"}
			return c.ID
		},
		"leave":  func() string { c := channel(); c.Gone = true; return c.ID },
		"expire": func() string { s.expire++; return "" },
		"narrow": set(&s.narrow, true), "seal": set(&s.sealed, true), "unseal": set(&s.sealed, false),
		"nameless": set(&s.nameless, true), "named": set(&s.nameless, false),
	}
}

func (s *Slack) stampDaysAgo(days int) string {
	return fmt.Sprintf("%010d", s.Now().AddDate(0, 0, -days).Unix())
}

func (s *Slack) isRecent(m *rest.Row) bool { return m.ID > s.stampDaysAgo(6) }

// readableMessages lists the messages in the channels that the person reads.
func (s *Slack) readableMessages() (out []*rest.Row) {
	for _, c := range rest.Filter(s.Live(StreamChannels), isRead) {
		out = append(out, s.Live(c.ID)...)
	}
	return out
}

// nextMoment is a moment that is not before that of any message.
func (s *Slack) nextMoment() time.Time {
	if now := s.Now(); now.After(s.lastTS) {
		s.lastTS = now
	}
	return s.lastTS
}

// refuse has the status of a good answer.
func refuse(name string) rest.Answer { return rest.OK(jsonObject{"ok": false, "error": name}) }

func renderError(f rest.Refusal) rest.Answer {
	a := refuse(cmp.Or(map[rest.Problem]string{rest.RateLimited: "ratelimited", rest.ExpiredToken: "token_expired",
		rest.Unavailable: "service_unavailable", rest.NoToken: "not_authed", rest.BadToken: "invalid_auth",
		rest.BadParameter: "invalid_" + f.Name, rest.NoRoute: "unknown_method"}[f.Problem], "internal_error"))
	if f.Problem == rest.RateLimited {
		a.Status = http.StatusTooManyRequests
	}
	return a
}

func (s *Slack) guard(r *http.Request) (a rest.Answer) {
	if s.narrow && r.URL.Path != "/api/auth.test" {
		return refuse("missing_scope")
	}
	if s.expire > 0 && r.URL.Query().Get("cursor") != "" {
		s.expire--
		return s.Refuse(r, rest.BadParameter, "cursor")
	}
	return a
}

func okAnswer(value jsonObject) rest.Answer {
	value["ok"] = true
	return rest.OK(value)
}

func (s *Slack) handleRoutes() {
	on := func(method string, serve func(*http.Request) rest.Answer) { s.Handle("GET /api/"+method, "", serve) }
	onChannel := func(method string, serve func(*http.Request, *rest.Row) rest.Answer) {
		on(method, func(r *http.Request) rest.Answer {
			if c := s.Find(StreamChannels, r.URL.Query().Get("channel")); c != nil {
				return serve(r, c)
			}
			return refuse("channel_not_found")
		})
	}
	on("auth.test", func(*http.Request) rest.Answer {
		user, id := "person1", ownUser
		if s.nameless {
			user, id = "", ""
		}
		return okAnswer(jsonObject{"url": "https://home.slack.example/", "team": "Home", "user": user, "team_id": teamID,
			"user_id": id})
	})
	on("team.info", func(*http.Request) rest.Answer { return okAnswer(jsonObject{"team": workspace}) })
	on("conversations.list", func(r *http.Request) rest.Answer {
		s.sampleMemberCounts()
		return s.serveRows(r, "channels", s.Live(StreamChannels), nil)
	})
	on("users.list", func(r *http.Request) rest.Answer { return s.serveRows(r, "members", s.Live(StreamUsers), nil) })
	onChannel("conversations.history", s.serveHistory)
	onChannel("conversations.replies", s.serveReplies)
	onChannel("conversations.members", func(r *http.Request, _ *rest.Row) rest.Answer {
		return s.serveRows(r, "members", s.members(), func(page rest.Page, body jsonObject) {
			ids := []any{}
			for _, row := range page.Rows {
				ids = append(ids, row["id"])
			}
			body["members"] = ids
		})
	})
	onChannel("conversations.info", func(_ *http.Request, c *rest.Row) rest.Answer {
		o := s.render(c)
		o["last_read"] = lastReadStamp
		return okAnswer(jsonObject{"channel": o})
	})
	for _, name := range []string{"usergroups", "reminders"} {
		on(name+".list", func(*http.Request) rest.Answer {
			return okAnswer(jsonObject{name: rest.Show(s.Live(name), s.render)})
		})
	}
	on("files.list", func(r *http.Request) rest.Answer { return s.serveNumbered(r, "files", "count", StreamFiles) })
	on("stars.list", func(r *http.Request) rest.Answer { return s.serveNumbered(r, "items", "per_page", StreamStars) })
}

// serveRows answers a page of a list with a cursor. Pages of a history may be empty although more follow.
func (s *Slack) serveRows(r *http.Request, member string, all []*rest.Row,
	extend func(rest.Page, jsonObject)) rest.Answer {
	pager := rest.Pager{Style: rest.Token, Place: "cursor", Size: "limit", Most: 999, Exact: true, Cap: s.cfg.MaxPage,
		Items: member, Next: "response_metadata.next_cursor", End: "", Gaps: r.URL.Path == "/api/conversations.history"}
	pager.Extend = func(_ *http.Request, page rest.Page, body jsonObject) {
		if body["ok"] = true; member == "messages" { // other lists do not have it
			body["has_more"] = page.More
		}
		if extend != nil {
			extend(page, body)
		}
	}
	return rest.Serve(s.Service, r, pager, rest.List[*rest.Row]{All: all, Show: s.render})
}

// serveNumbered answers a page of a list that has numbers of pages, the newest first.
func (s *Slack) serveNumbered(r *http.Request, member, count, collection string) rest.Answer {
	size := min(s.cfg.MaxPage, 100)
	return rest.Serve(s.Service, r, rest.Pager{Style: rest.Number, Place: "page", Usual: size, Items: member,
		Extend: func(_ *http.Request, page rest.Page, body jsonObject) {
			body["ok"], body["paging"] = true, jsonObject{count: size, "total": page.Total, "page": page.Number,
				"pages": (page.Total + size - 1) / size}
		}}, rest.List[*rest.Row]{All: rest.SortByTime(s.Live(collection), false), Show: s.render})
}

func (s *Slack) serveHistory(r *http.Request, c *rest.Row) rest.Answer {
	if !isRead(c) {
		return refuse("not_in_channel")
	}
	q := r.URL.Query()
	oldest, latest, inclusive := q.Get("oldest"), cmp.Or(q.Get("latest"), "~"), q.Get("inclusive") == "true"
	all := rest.Filter(s.Rows[c.ID], func(m *rest.Row) bool {
		return s.isVisible(m) && (m.ID > oldest && m.ID < latest || inclusive && (m.ID == oldest || m.ID == latest))
	})
	slices.Reverse(all)
	return s.serveRows(r, "messages", all, nil)
}

// serveReplies answers the replies of a message. Each page repeats the message.
func (s *Slack) serveReplies(r *http.Request, c *rest.Row) rest.Answer {
	if s.sealed {
		return refuse("no_permission")
	}
	for _, m := range s.Rows[c.ID] {
		if m.ID == r.URL.Query().Get("ts") && s.isVisible(m) {
			return s.serveRows(r, "messages", s.Live(m.ID), func(page rest.Page, body jsonObject) {
				body["messages"] = append([]jsonObject{s.render(m)}, page.Rows...)
			})
		}
	}
	return refuse("thread_not_found")
}

// Server is a running workspace.
type Server = providersim.Running[*Slack]

// Start serves a new workspace and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("slack", New(cfg), cfg.Addr, cfg.ControlAddr)
}
