package spotify

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// answer is what an endpoint gives.
type answer struct {
	status int
	value  any // a string is sent as plain text
	header http.Header
}

func ok(value any) answer { return answer{status: http.StatusOK, value: value} }

func refuse(status int, message string) answer {
	return answer{status: status, value: object{"error": object{"status": status, "message": message}}}
}

// faultBody is how Spotify words what a fault of the gate makes it say.
func faultBody(code string) []byte {
	switch code {
	case "rate_limited":
		return []byte("Too many requests")
	case "token_expired":
		return providersim.EncodeJSON(refuse(http.StatusUnauthorized, "The access token expired").value)
	case "unavailable":
		return providersim.EncodeJSON(refuse(http.StatusServiceUnavailable, "Service unavailable").value)
	}
	return providersim.EncodeJSON(refuse(http.StatusInternalServerError, "Server error.").value)
}

func (s *Spotify) routes() *http.ServeMux {
	mux := http.NewServeMux()
	on := func(pattern, scope string, serve func(*http.Request) answer) {
		mux.HandleFunc(pattern, s.handle(scope, serve))
	}
	on("GET /v1/me", "", func(*http.Request) answer {
		return ok(object{"id": ownID, "display_name": "Ottilie B", "type": "user", "uri": "spotify:user:" + ownID})
	})
	on("GET /v1/me/playlists", ScopePlaylists, s.servePlaylists)
	on("GET /v1/playlists/{id}/items", ScopePlaylists, s.serveItems)
	on("GET /v1/playlists/{id}/tracks", "", func(*http.Request) answer { return refuse(http.StatusForbidden, "Forbidden") })
	on("GET /v1/me/tracks", ScopeLibrary, s.serveSaved)
	on("GET /v1/me/top/artists", ScopeTop, s.serveTop)
	on("GET /v1/me/top/tracks", ScopeTop, func(r *http.Request) answer { return list(s, r, s.topTracks(), track.object) })
	for _, k := range library {
		on("GET /v1/me/"+k.path, ScopeLibrary, s.serveLibrary(k))
	}
	on("GET /v1/me/player/recently-played", ScopePlayed, s.servePlays)
	on("/", "", func(*http.Request) answer { return refuse(http.StatusNotFound, "Service not found") })
	return mux
}

func (s *Spotify) handle(scope string, serve func(*http.Request) answer) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		a := s.admit(r, scope)
		if a.status == 0 {
			a = serve(r)
		}
		for name, values := range a.header {
			w.Header()[name] = values
		}
		body, plain := a.value.(string)
		if plain {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		} else {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			body = string(providersim.EncodeJSON(a.value))
		}
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte(body))
	}
}

// admit judges who asks and how often; a zero answer lets the request in.
func (s *Spotify) admit(r *http.Request, scope string) answer {
	challenge := http.Header{"Www-Authenticate": {`Bearer realm="spotify", error="invalid_token"`}}
	switch s.Tokens.Check(r.Header.Get("Authorization"), scope) {
	case providersim.TokenActive:
	case providersim.TokenUnderScoped:
		return refuse(http.StatusForbidden, "Insufficient client scope")
	case providersim.TokenExpired:
		a := refuse(http.StatusUnauthorized, "The access token expired")
		a.header = challenge
		return a
	default:
		a := refuse(http.StatusUnauthorized, "Invalid access token")
		a.header = challenge
		return a
	}
	if s.stranger {
		return answer{status: http.StatusForbidden, value: "Check settings on developer.spotify.com/dashboard, the user may not be registered."}
	}
	return s.spend()
}

const window = 30 * time.Second

// spend counts a request of the app.
func (s *Spotify) spend() answer {
	if s.cfg.Rate == 0 {
		return answer{}
	}
	now := s.cfg.Now()
	s.asked = slices.DeleteFunc(s.asked, func(t time.Time) bool { return now.Sub(t) >= window })
	if len(s.asked) < s.cfg.Rate {
		s.asked = append(s.asked, now)
		return answer{}
	}
	wait := s.cfg.Penalty
	if wait == 0 {
		wait = window - now.Sub(s.asked[0])
	}
	a := refuse(http.StatusTooManyRequests, "API rate limit exceeded")
	if s.refused++; s.refused%2 == 0 {
		a.value = "Too many requests"
	}
	a.header = http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(wait.Seconds())))}}
	return a
}

// number reads a parameter of the query.
func number(q url.Values, name string, standard int) (int, bool) {
	if !q.Has(name) {
		return standard, true
	}
	n, err := strconv.Atoi(q.Get(name))
	return n, err == nil && n >= 0
}

// list answers one page of what is there now.
func list[T any](s *Spotify, r *http.Request, all []T, render func(T) object) answer {
	q := r.URL.Query()
	limit, right := number(q, "limit", min(20, s.cfg.MaxPage))
	offset, placed := number(q, "offset", 0)
	if !right || limit < 1 || limit > 50 {
		return refuse(http.StatusBadRequest, "Invalid limit")
	}
	if !placed {
		return refuse(http.StatusBadRequest, "Invalid offset")
	}
	fault := providersim.PageFaultFrom(r.Context())
	size := min(limit, s.cfg.MaxPage)
	from := min(offset, len(all))
	to := min(from+fault.Size(size), len(all))
	rows := make([]object, 0, to-from)
	for _, x := range all[from:to] {
		rows = append(rows, render(x))
	}
	at := func(offset int) string {
		q := r.URL.Query()
		q.Set("offset", strconv.Itoa(offset))
		q.Set("limit", strconv.Itoa(limit))
		return "http://" + r.Host + r.URL.Path + "?" + q.Encode()
	}
	page := object{"href": at(offset), "items": rows, "limit": size, "offset": offset, "total": len(all), "next": nil, "previous": nil}
	if next, more := fault.Next(at(offset), at(from+size), from+size < len(all)); more {
		page["next"] = next
	}
	return ok(page)
}

func (s *Spotify) servePlaylists(r *http.Request) answer {
	var all []*playlist
	for i, p := range s.playlists {
		if p.gone {
			continue
		}
		all = append(all, p)
		if i == 1 {
			all = append(all, nil) // one that Spotify made
		}
	}
	return list(s, r, all, func(p *playlist) object {
		if p == nil {
			return nil
		}
		return p.object()
	})
}

func (s *Spotify) serveItems(r *http.Request) answer {
	i := slices.IndexFunc(s.playlists, func(p *playlist) bool { return p.id == r.PathValue("id") && !p.gone })
	switch {
	case i < 0:
		return refuse(http.StatusNotFound, "Resource not found")
	case !s.playlists[i].open():
		return refuse(http.StatusForbidden, "Forbidden")
	}
	return list(s, r, s.playlists[i].entries, entry.object)
}

func (s *Spotify) serveSaved(r *http.Request) answer {
	var all []*saved
	for _, x := range slices.Backward(s.saved) {
		if !x.gone {
			all = append(all, x)
		}
	}
	return list(s, r, all, (*saved).object)
}

func (s *Spotify) serveTop(r *http.Request) answer {
	span := r.URL.Query().Get("time_range")
	if span == "" {
		span = "medium_term"
	}
	if !slices.Contains(ranges, span) {
		return refuse(http.StatusBadRequest, "Invalid time range")
	}
	return list(s, r, s.top[span], artist.object)
}

func (s *Spotify) servePlays(r *http.Request) answer {
	q := r.URL.Query()
	limit, right := number(q, "limit", 20)
	switch {
	case !right || limit < 1 || limit > 50:
		return refuse(http.StatusBadRequest, "Invalid limit")
	case q.Has("after") && q.Has("before"):
		return refuse(http.StatusBadRequest, "Only one of after and before may be given")
	}
	before, told := number(q, "before", math.MaxInt)
	after, said := number(q, "after", 0)
	if !told || !said {
		return refuse(http.StatusBadRequest, "Invalid cursor")
	}
	fault := providersim.PageFaultFrom(r.Context())
	kept := s.plays[max(0, len(s.plays)-s.cfg.Window):]
	rows := []object{}
	oldest, newest := 0, 0
	for _, p := range slices.Backward(kept) {
		at := int(p.at.UnixMilli())
		if at >= before || at <= after || len(rows) >= fault.Size(min(limit, s.cfg.MaxPage)) {
			continue
		}
		if newest == 0 {
			newest = at
		}
		oldest = at
		rows = append(rows, p.object())
	}
	page := object{"items": rows, "limit": limit, "next": nil, "cursors": nil, "href": "http://" + r.Host + r.URL.RequestURI()}
	own := "http://" + r.Host + r.URL.RequestURI()
	next := fmt.Sprintf("http://%s%s?before=%d&limit=%d", r.Host, r.URL.Path, oldest, limit)
	if to, more := fault.Next(own, next, len(rows) > 0); more {
		page["next"] = to
		page["cursors"] = object{"after": strconv.Itoa(newest), "before": strconv.Itoa(oldest)}
	}
	return ok(page)
}
