package signin

import (
	"html/template"
	"net/http"
	"strings"
	"time"
)

// halfCookie names a person who entered the right password.
const halfCookie = "__Secure-half"

// Routes puts the pages of the sign-in on a provider's routes.
func (s *Site) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /auth/login", s.serveForm)
	mux.HandleFunc("POST /auth/login", s.takePassword)
	mux.HandleFunc("GET /auth/second", s.showSecond)
	mux.HandleFunc("POST /auth/second", s.serveCode)
	mux.HandleFunc("GET /auth/push", s.servePush)
	mux.HandleFunc("GET /auth/partner",
		func(w http.ResponseWriter, _ *http.Request) { renderPage(w, partnerPage, s.cfg.Accounts[0]) })
	mux.HandleFunc("POST /auth/partner", s.takePartner)
	mux.HandleFunc("GET /auth/logout", s.serveSignOut)
	mux.HandleFunc("GET /auth/download", s.serveDownload)
	mux.HandleFunc("GET /auth/leak", s.recordLeak)
	mux.HandleFunc("GET /api/auth/session", s.tellSession)
	mux.HandleFunc("POST /wall", s.serveWallAnswer)
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
	})
	mux.HandleFunc("GET /{$}", s.serveHome)
}

func renderPage(w http.ResponseWriter, t *template.Template, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = t.Execute(w, data)
}

// serveHome serves the application's own page. Its policy blocks all script requests, so that no connector collects
// from it by accident.
func (s *Site) serveHome(w http.ResponseWriter, r *http.Request) {
	a, ok := s.Account(r)
	if !ok {
		renderPage(w, awayTemplate, nil)
		return
	}
	w.Header().Set("Content-Security-Policy", "connect-src 'none'")
	renderPage(w, homeTemplate, map[string]any{"Name": a.Name, "Page": s.State().Page})
}

func (s *Site) serveForm(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.Account(r); ok {
		http.Redirect(w, r, s.cfg.Home, http.StatusSeeOther)
		return
	}
	s.renderForm(w, "")
}

func (s *Site) renderForm(w http.ResponseWriter, fault string) {
	renderPage(w, formTemplate, map[string]any{"Error": fault, "Page": string(s.State().Page)})
}

func (s *Site) takePassword(w http.ResponseWriter, r *http.Request) {
	name, password := strings.TrimSpace(r.FormValue("username")), r.FormValue("password")
	s.mu.Lock()
	var known Account
	for _, a := range s.accounts {
		if strings.EqualFold(a.Email, name) {
			known = a
		}
	}
	fault := ""
	var cookie *http.Cookie
	second := s.order.Second
	switch {
	case known.Locked:
		fault = "This account is locked."
	case known.ID == "" || known.Password != password:
		s.countWrongAttempt(known.ID)
		fault = "Wrong e-mail or password."
	case second == None:
		cookie = s.startSession(known.ID)
	default:
		value := s.deriveSecret("half")
		h := &halfSession{account: known.ID}
		if second == Email {
			s.made++
			h.code = totpCode(s.key, "mail "+known.ID, time.Unix(int64(s.made)*30, 0))
		}
		s.halves[value] = h
		cookie = s.newCookie(halfCookie, value)
	}
	s.mu.Unlock()
	if fault != "" {
		s.renderForm(w, fault)
		return
	}
	http.SetCookie(w, cookie)
	to := s.cfg.Home
	if second != None {
		to = "/auth/second"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// countWrongAttempt counts a wrong password or code, and locks the account at too many.
func (s *Site) countWrongAttempt(account string) {
	s.count.Wrong++
	s.wrong[account]++
	for i := range s.accounts {
		if s.accounts[i].ID == account && s.wrong[account] >= maxWrongAttempts {
			s.accounts[i].Locked = true
		}
	}
}

// halfSignedIn returns the person that the request's cookie names between password and second step.
func (s *Site) halfSignedIn(r *http.Request) (*halfSession, string) {
	c, err := r.Cookie(halfCookie)
	if err != nil {
		return nil, ""
	}
	return s.halves[c.Value], c.Value
}

func (s *Site) showSecond(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h, value := s.halfSignedIn(r)
	second := s.order.Second
	if h != nil && h.approved {
		delete(s.halves, value)
		cookie := s.startSession(h.account)
		s.mu.Unlock()
		http.SetCookie(w, cookie)
		http.Redirect(w, r, s.cfg.Home, http.StatusSeeOther)
		return
	}
	s.mu.Unlock()
	switch {
	case h == nil:
		http.Redirect(w, r, "/auth/login", http.StatusSeeOther)
	case second == Push:
		renderPage(w, pushTemplate, nil)
	default:
		renderPage(w, codeTemplate, map[string]string{"Error": ""})
	}
}

func (s *Site) serveCode(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h, value := s.halfSignedIn(r)
	if h == nil {
		s.mu.Unlock()
		http.Redirect(w, r, "/auth/login", http.StatusSeeOther)
		return
	}
	now, code := s.cfg.Now(), strings.TrimSpace(r.FormValue("code"))
	right := h.code != "" && code == h.code ||
		s.order.Second == TOTP && (code == totpCode(s.key, h.account, now) ||
			code == totpCode(s.key, h.account, now.Add(-30*time.Second)))
	if !right {
		s.countWrongAttempt(h.account)
		s.mu.Unlock()
		renderPage(w, codeTemplate, map[string]string{"Error": "That code is not right."})
		return
	}
	delete(s.halves, value)
	cookie := s.startSession(h.account)
	s.mu.Unlock()
	http.SetCookie(w, cookie)
	http.Redirect(w, r, s.cfg.Home, http.StatusSeeOther)
}

func (s *Site) servePush(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h, _ := s.halfSignedIn(r)
	approved := h != nil && h.approved
	s.mu.Unlock()
	writeJSONBody(w, http.StatusOK, map[string]bool{"approved": approved})
}

func (s *Site) takePartner(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	cookie := s.startSession(s.accounts[0].ID)
	s.mu.Unlock()
	http.SetCookie(w, cookie)
	renderPage(w, closingPage, map[string]string{"Home": s.cfg.Home})
}

func (s *Site) serveSignOut(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if c, err := r.Cookie(s.cfg.Cookie); err == nil {
		delete(s.sessions, c.Value)
	}
	s.mu.Unlock()
	gone := s.newCookie(s.cfg.Cookie, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// recordLeak records what the hostile page could read although it must not.
func (s *Site) recordLeak(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Leaks++
	w.WriteHeader(http.StatusNoContent)
}

func (s *Site) serveDownload(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.count.Downloads++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="setup.exe"`)
	_, _ = w.Write(make([]byte, 1<<16))
}

// tellSession serves the signed-in account with an access token. A signed-out visitor gets 200 with an empty object.
func (s *Site) tellSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var out any = struct{}{}
	if x := s.liveSession(r); x != nil {
		a, _ := s.accountByID(x.account)
		out = map[string]any{
			"user":    map[string]string{"id": a.ID, "name": a.Name, "email": a.Email},
			"expires": x.until.UTC().Format(time.RFC3339Nano), "accessToken": s.accessTokenOf(x),
		}
	}
	s.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	writeJSONBody(w, http.StatusOK, out)
}
