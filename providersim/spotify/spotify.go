package spotify

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
	"github.com/pdpp-go/pdpp/providersim/rest"
)

// Scopes of a token.
const (
	ScopePlaylists     = "playlist-read-private"
	ScopeCollaborative = "playlist-read-collaborative"
	ScopeLibrary       = "user-library-read"
	ScopeTop           = "user-top-read"
	ScopePlayed        = "user-read-recently-played"
)

// Config sets what the simulated account holds and how strict its provider is.
type Config struct {
	Seed                           uint64
	Playlists, Items, Saved, Plays int // Items of each playlist
	Artists                        int // of each range of time
	// MaxPage is the largest page (50), Window how many plays are listed (50).
	MaxPage, Window int
	// Rate is how many requests the app may make in 30 seconds; zero is no limit. Penalty is the Retry-After of a
	// refusal; zero is until the window has room.
	Rate    int
	Penalty time.Duration

	Token             string           // the first access token; empty means one derived from Seed
	Now               func() time.Time // clock of limits and of the Date header; nil means the wall clock
	Addr, ControlAddr string           // loopback addresses of [Start]; empty means a free port
}

// Spotify is one simulated account. It is safe for concurrent use.
type Spotify struct {
	*rest.Service
	cfg                    Config
	pager                  rest.Pager
	playlists, saved, play *rest.Collection
	stranger               bool // the person is not among the app's users
	withheld               bool // saved albums, shows, episodes and audiobooks are refused
}

// New returns an account generated from cfg.
func New(cfg Config) *Spotify {
	cfg.MaxPage, cfg.Window = cmp.Or(cfg.MaxPage, 50), cmp.Or(cfg.Window, 50)
	s := &Spotify{cfg: cfg, pager: rest.Pager{Style: rest.Offset, Place: "offset", Size: "limit",
		Usual: min(20, cfg.MaxPage), Most: 50, Exact: true, Cap: cfg.MaxPage, Items: "items", Next: "next", Address: true,
		Total: "total", Extend: func(_ *http.Request, page rest.Page, body rest.Object) {
			body["href"], body["limit"], body["offset"], body["previous"] = page.Own, page.Size, page.Offset, nil
		}}}
	s.playlists = &rest.Collection{Stream: StreamPlaylists, Count: cfg.Playlists, New: s.newPlaylist,
		Show: s.renderPlaylist}
	s.saved = &rest.Collection{Stream: StreamSaved, Count: cfg.Saved, New: s.newSavedTrack, Pager: s.pager,
		Route: "GET /v1/me/tracks", Scope: ScopeLibrary, Order: func(a, b *rest.Row) int { return b.N - a.N }}
	s.play = &rest.Collection{Stream: StreamPlayed, Count: cfg.Plays, New: s.newPlay}
	s.Service = rest.New(rest.Options{Seed: cfg.Seed, Token: cmp.Or(cfg.Token, fmt.Sprintf("BQ%016x", cfg.Seed)),
		Scopes: []string{ScopePlaylists, ScopeCollaborative, ScopeLibrary, ScopeTop, ScopePlayed}, Now: cfg.Now,
		Clock: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), Tick: 90 * time.Second, Errors: renderError,
		Limit: rest.Limit{Rate: cfg.Rate, Window: 30 * time.Second, Announce: true, Penalty: cfg.Penalty},
		Guard: s.guard, Truth: s.truth})
	s.Operations = s.operations()
	s.Settings = map[string]func(int){
		"allow":    func(n int) { s.Limit.Rate = n },   // requests in 30 seconds
		"withhold": func(n int) { s.withheld = n > 1 }, // albums and the like: 2: yes, 1: no
		"stranger": func(n int) { s.stranger = n > 1 }} // 2: yes, 1: no
	for _, c := range []*rest.Collection{s.playlists, s.saved, s.play} {
		s.Open(c)
	}
	for _, span := range topRanges {
		for range cfg.Artists {
			s.Add(span, s.newArtist())
		}
	}
	s.handleRoutes()
	return s
}

func (s *Spotify) operations() map[string]func() string {
	add := func(c *rest.Collection) func() string { return func() string { return s.AddTo(c).ID } }
	playlist := func(edit func(*rest.Row)) func() string { return s.EditRow(StreamPlaylists, isReadable, edit) }
	return map[string]func() string{
		"save":   add(s.saved),
		"unsave": func() string { return s.Delete(StreamSaved, nil) },
		"save_again": s.EditRow(StreamSaved, nil, func(x *rest.Row) {
			x.Gone = true
			s.Add(StreamSaved, &rest.Row{ID: x.ID, Data: rest.Object{"added_at": stamp(s.Clock()), "track": x.Data["track"]}})
		}),
		"add_playlists":      add(s.playlists),
		"unfollow_playlists": playlist(func(p *rest.Row) { p.Gone = true }),
		"rename_playlists":   playlist(func(p *rest.Row) { p.Data["name"] = p.Data["name"].(string) + " (new)" }),
		"add_items":          playlist(func(p *rest.Row) { s.addEntry(p, 0); s.addEntry(p, 1) }),
		"remove_items": playlist(func(p *rest.Row) {
			p.Data["snapshot"] = p.Data["snapshot"].(int) + 1
			if all := s.Rows[p.ID]; len(all) > 2 {
				s.Rows[p.ID] = slices.Delete(all, 1, 3)
			}
		}),
		"play": add(s.play),
		"rerank": func() string {
			s.Rows["short_term"] = append([]*rest.Row{s.newArtist()}, s.Rows["short_term"][1:]...)
			return ""
		},
	}
}

func (s *Spotify) handleRoutes() {
	forbidden := func(*http.Request) rest.Answer { return apiError(403, "Forbidden") }
	s.Handle("GET /v1/me", "", func(*http.Request) rest.Answer {
		return rest.OK(rest.Object{"id": ownUserID, "display_name": "Ottilie B", "type": "user",
			"uri": "spotify:user:" + ownUserID})
	})
	s.Handle("GET /v1/me/playlists", ScopePlaylists, func(r *http.Request) rest.Answer {
		all := s.Live(StreamPlaylists)
		if len(all) > 1 {
			all = slices.Insert(all, 2, nil) // one that Spotify made
		}
		return rest.Serve(s.Service, r, s.pager, rest.List[*rest.Row]{All: all, Show: s.renderPlaylist})
	})
	s.Handle("GET /v1/playlists/{id}/items", ScopePlaylists, func(r *http.Request) rest.Answer {
		p := s.Find(StreamPlaylists, r.PathValue("id"))
		switch {
		case p == nil:
			return s.Refuse(r, rest.NotFound, "")
		case !isReadable(p):
			return forbidden(r)
		}
		return s.serveRows(r, s.Rows[p.ID])
	})
	s.Handle("GET /v1/playlists/{id}/tracks", "", forbidden)
	s.Handle("GET /v1/me/top/artists", ScopeTop, func(r *http.Request) rest.Answer {
		span := cmp.Or(r.URL.Query().Get("time_range"), "medium_term")
		if !slices.Contains(topRanges, span) {
			return apiError(400, "Invalid time range")
		}
		return s.serveRows(r, s.Rows[span])
	})
	s.Handle("GET /v1/me/top/tracks", ScopeTop, func(r *http.Request) rest.Answer { return s.serveRows(r, topTracks) })
	for _, k := range savedKinds {
		s.Handle("GET /v1/me/"+k.kind+"s", ScopeLibrary, func(r *http.Request) rest.Answer {
			if s.withheld { // a list that Spotify does not offer to the app
				return forbidden(r)
			}
			return s.serveRows(r, k.savedRows())
		})
	}
	s.Handle("GET /v1/me/player/recently-played", ScopePlayed, s.servePlays)
}

func (s *Spotify) serveRows(r *http.Request, all []*rest.Row) rest.Answer {
	return rest.ListRows(s.Service, r, s.pager, all, nil, func(x *rest.Row) rest.Object { return x.Data })
}

func (s *Spotify) guard(*http.Request) (a rest.Answer) {
	if s.stranger {
		a = rest.Answer{Status: http.StatusForbidden,
			Body: "Check settings on developer.spotify.com/dashboard, the user may not be registered."}
	}
	return a
}

func apiError(status int, message string) rest.Answer {
	return rest.Answer{Status: status, Body: rest.Object{"error": rest.Object{"status": status, "message": message}}}
}

func renderError(f rest.Refusal) rest.Answer {
	if f.Problem == rest.RateLimited && f.Nth%2 == 0 {
		return rest.Answer{Status: http.StatusTooManyRequests, Body: "Too many requests"}
	}
	a := apiError(f.Status(), map[rest.Problem]string{rest.RateLimited: "API rate limit exceeded",
		rest.ExpiredToken: "The access token expired", rest.NoToken: "Invalid access token",
		rest.BadToken: "Invalid access token", rest.NoScope: "Insufficient client scope",
		rest.BadParameter: "Invalid " + f.Name, rest.Unavailable: "Service unavailable", rest.Internal: "Server error.",
		rest.NoRoute: "Service not found", rest.NotFound: "Resource not found"}[f.Problem])
	if a.Status == http.StatusUnauthorized {
		a.Header = http.Header{"Www-Authenticate": {`Bearer realm="spotify", error="invalid_token"`}}
	}
	return a
}

// servePlays answers the newest plays, with cursors in milliseconds that are exclusive.
func (s *Spotify) servePlays(r *http.Request) rest.Answer {
	q := r.URL.Query()
	limit, right := rest.NumberParameter(q, "limit", 20)
	before, first := rest.NumberParameter(q, "before", math.MaxInt)
	after, last := rest.NumberParameter(q, "after", 0)
	switch {
	case !right || limit < 1 || limit > 50:
		return s.Refuse(r, rest.BadParameter, "limit")
	case q.Has("after") && q.Has("before"):
		return apiError(400, "Only one of after and before may be given")
	case !first || !last:
		return s.Refuse(r, rest.BadParameter, "cursor")
	}
	fault, plays, rows := providersim.PageFaultFrom(r.Context()), s.Rows[StreamPlayed], []rest.Object{}
	oldest, newest := 0, 0
	for _, p := range slices.Backward(plays[max(0, len(plays)-s.cfg.Window):]) {
		at := int(p.At.UnixMilli())
		if at < before && at > after && len(rows) < fault.Size(min(limit, s.cfg.MaxPage)) {
			newest, oldest, rows = cmp.Or(newest, at), at, append(rows, p.Data)
		}
	}
	own := "http://" + r.Host + r.URL.RequestURI()
	page := rest.Object{"items": rows, "limit": limit, "next": nil, "cursors": nil, "href": own}
	next := fmt.Sprintf("http://%s%s?before=%d&limit=%d", r.Host, r.URL.Path, oldest, limit)
	if to, more := fault.Next(own, next, len(rows) > 0); more {
		page["next"] = to
		page["cursors"] = rest.Object{"after": strconv.Itoa(newest), "before": strconv.Itoa(oldest)}
	}
	return rest.OK(page)
}

// Server is a running account.
type Server = providersim.Running[*Spotify]

// Start serves a new account and its control port on loopback.
func Start(cfg Config) (*Server, error) {
	return providersim.Start("spotify", New(cfg), cfg.Addr, cfg.ControlAddr)
}
