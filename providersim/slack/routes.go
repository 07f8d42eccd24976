package slack

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

type answer struct {
	status int
	value  object
	header http.Header
}

func ok(value object) answer {
	value["ok"] = true
	return answer{status: http.StatusOK, value: value}
}

// refuse has the status of a good answer.
func refuse(name string) answer {
	return answer{status: http.StatusOK, value: object{"ok": false, "error": name}}
}

// faultBody is how Slack words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	name := map[string]string{"rate_limited": "ratelimited", "token_expired": "token_expired", "unavailable": "service_unavailable"}[code]
	if name == "" {
		name = "internal_error"
	}
	return providersim.EncodeJSON(refuse(name).value)
}

func (s *Slack) routes() *http.ServeMux {
	mux := http.NewServeMux()
	on := func(method string, serve func(*http.Request) answer) {
		mux.HandleFunc("GET /api/"+method, s.handle(method, serve))
	}
	on("auth.test", func(*http.Request) answer {
		if s.nameless {
			return ok(object{"url": "https://home.slack.example/", "team": "Home", "user": "", "team_id": team, "user_id": ""})
		}
		return ok(object{"url": "https://home.slack.example/", "team": "Home", "user": "person1", "team_id": team, "user_id": self})
	})
	on("team.info", func(*http.Request) answer { return ok(object{"team": s.workspace()}) })
	on("conversations.list", func(r *http.Request) answer {
		var all []object
		s.sample()
		for _, c := range s.channels {
			if !c.left {
				all = append(all, c.object())
			}
		}
		return s.list(r, "channels", all, false)
	})
	on("users.list", func(r *http.Request) answer { return s.list(r, "members", s.users, false) })
	on("conversations.history", s.history)
	on("conversations.replies", s.replies)
	on("files.list", s.listFiles)
	on("conversations.members", func(r *http.Request) answer {
		c := s.find(r)
		if c == nil {
			return refuse("channel_not_found")
		}
		var all []object
		for _, user := range s.members(c) {
			all = append(all, object{"id": user})
		}
		a := s.list(r, "members", all, false)
		if rows, right := a.value["members"].([]object); right {
			ids := []string{}
			for _, row := range rows {
				ids = append(ids, row["id"].(string))
			}
			a.value["members"] = ids
		}
		return a
	})
	on("conversations.info", func(r *http.Request) answer {
		c := s.find(r)
		if c == nil {
			return refuse("channel_not_found")
		}
		o := c.object()
		o["last_read"] = lastRead
		return ok(object{"channel": o})
	})
	on("usergroups.list", func(*http.Request) answer { return ok(object{"usergroups": s.groups}) })
	on("reminders.list", func(*http.Request) answer { return ok(object{"reminders": s.reminders}) })
	on("stars.list", func(r *http.Request) answer { return s.numbered(r, "items", "per_page", s.stars) })
	mux.HandleFunc("/", s.handle("", func(*http.Request) answer { return refuse("unknown_method") }))
	return mux
}

func (s *Slack) handle(method string, serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		var a answer
		switch state := s.Tokens.Check(r.Header.Get("Authorization"), ""); {
		case state == providersim.TokenMissing:
			a = refuse("not_authed")
		case state == providersim.TokenExpired:
			a = refuse("token_expired")
		case state != providersim.TokenActive:
			a = refuse("invalid_auth")
		case !s.spend(method):
			a = answer{http.StatusTooManyRequests, object{"ok": false, "error": "ratelimited"}, http.Header{"Retry-After": {"30"}}}
		case s.narrow && method != "auth.test":
			a = refuse("missing_scope")
		default:
			a = serve(r)
		}
		for name, values := range a.header {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(a.status)
		_, _ = w.Write(providersim.EncodeJSON(a.value))
	}
}

// spend counts a request of a method in the minute.
func (s *Slack) spend(method string) bool {
	now := s.cfg.Now()
	s.asked[method] = slices.DeleteFunc(s.asked[method], func(t time.Time) bool { return now.Sub(t) >= time.Minute })
	if s.cfg.Rate > 0 && len(s.asked[method]) >= s.cfg.Rate {
		return false
	}
	s.asked[method] = append(s.asked[method], now)
	return true
}

// place is what a cursor holds.
type place struct {
	Of     string
	At     int
	Number int // makes the one behind an empty page another one than its own
}

// list answers one page. Pages of a history may be empty although more follow.
func (s *Slack) list(r *http.Request, member string, all []object, gaps bool) answer {
	q := r.URL.Query()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit < 1 || limit > 999 {
		return refuse("invalid_limit")
	}
	here := place{Of: strings.Join([]string{r.URL.Path, q.Get("channel"), q.Get("ts"), q.Get("oldest"), q.Get("latest"),
		q.Get("inclusive")}, " ")}
	if cursor := q.Get("cursor"); cursor != "" {
		of := here.Of
		if s.expire > 0 {
			s.expire--
			return refuse("invalid_cursor")
		}
		if !s.signer.Open(cursor, &here) || here.Of != of {
			return refuse("invalid_cursor")
		}
	}
	fault := providersim.PageFaultFrom(r.Context())
	size := min(limit, s.cfg.MaxPage)
	if s.served++; gaps && here.At > 0 && s.served%3 == 0 {
		size = 0
	}
	from := min(here.At, len(all))
	to := min(from+fault.Size(size), len(all))
	next := place{here.Of, min(from+size, len(all)), here.Number + 1}
	out := object{member: append([]object{}, all[from:to]...), "response_metadata": object{"next_cursor": ""}}
	token, more := fault.Next(s.signer.Seal(here), s.signer.Seal(next), next.At < len(all))
	if more {
		out["response_metadata"] = object{"next_cursor": token}
	}
	if member == "messages" { // other lists do not have it
		out["has_more"] = more
	}
	return ok(out)
}

func (s *Slack) find(r *http.Request) *channel {
	for _, c := range s.channels {
		if c.id == r.URL.Query().Get("channel") && !c.left {
			return c
		}
	}
	return nil
}

func (s *Slack) history(r *http.Request) answer {
	c, q := s.find(r), r.URL.Query()
	switch {
	case c == nil:
		return refuse("channel_not_found")
	case !c.read():
		return refuse("not_in_channel")
	}
	inclusive := q.Get("inclusive") == "true"
	var all []object
	for _, m := range slices.Backward(c.messages) {
		after := q.Get("oldest") == "" || strings.Compare(m.ts, q.Get("oldest")) > 0 || inclusive && m.ts == q.Get("oldest")
		before := q.Get("latest") == "" || strings.Compare(m.ts, q.Get("latest")) < 0 || inclusive && m.ts == q.Get("latest")
		if m.there() && after && before {
			all = append(all, m.object())
		}
	}
	return s.list(r, "messages", all, true)
}

func (s *Slack) replies(r *http.Request) answer {
	c := s.find(r)
	switch {
	case c == nil:
		return refuse("channel_not_found")
	case s.sealed:
		return refuse("no_permission")
	}
	for _, m := range c.messages {
		if m.ts != r.URL.Query().Get("ts") || !m.there() {
			continue
		}
		var all []object
		for _, reply := range m.living() {
			all = append(all, reply.object())
		}
		a := s.list(r, "messages", all, false)
		if rows, right := a.value["messages"].([]object); right {
			a.value["messages"] = append([]object{m.object()}, rows...)
		}
		return a
	}
	return refuse("thread_not_found")
}

func (s *Slack) listFiles(r *http.Request) answer {
	var all []object
	for _, f := range slices.Backward(s.files) {
		if !f.gone {
			all = append(all, f.data)
		}
	}
	return s.numbered(r, "files", "count", all)
}

// numbered answers one page of a list that has numbers of pages.
func (s *Slack) numbered(r *http.Request, member, count string, all []object) answer {
	number, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || number < 1 {
		return refuse("invalid_page")
	}
	size := min(s.cfg.MaxPage, 100)
	from := min((number-1)*size, len(all))
	to := min(from+size, len(all))
	return ok(object{member: append([]object{}, all[from:to]...),
		"paging": object{count: size, "total": len(all), "page": number, "pages": (len(all) + size - 1) / size}})
}
