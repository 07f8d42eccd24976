package signin

import (
	"net/http"
	"strings"
)

// clearanceCookie is the cookie of a visitor who ticked the box.
const clearanceCookie = "cf_clearance"

// Guard puts the wall in front of a provider's routes.
func (s *Site) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" || r.URL.Path == "/wall" || s.passesWall(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("cf-mitigated", "challenge")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(http.StatusForbidden)
		_ = wallTemplate.Execute(w, map[string]string{"Back": returnAddress(r)})
	})
}

func returnAddress(r *http.Request) string {
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		return r.URL.RequestURI()
	}
	return "/"
}

// passesWall reports whether the wall lets the request through, and counts those that it does
// not.
func (s *Site) passesWall(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.order.Wall == WallDown {
		return true
	}
	if c, err := r.Cookie(clearanceCookie); err == nil && s.order.Wall == WallUp {
		if agent, ok := s.cleared[c.Value]; ok && agent == r.UserAgent() {
			return true
		}
	}
	s.count.Walled++
	return false
}

// serveWallAnswer processes the ticked box and sets the clearance, unless the wall stays shut.
func (s *Site) serveWallAnswer(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if r.FormValue("person") == "yes" && s.order.Wall != WallShut {
		value := s.deriveSecret("clearance")
		s.cleared[value] = r.UserAgent()
		s.count.Cleared++
		http.SetCookie(w, s.newCookie(clearanceCookie, value))
	}
	s.mu.Unlock()
	to := r.FormValue("back")
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
		to = "/"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}
