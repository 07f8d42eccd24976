package signin

import (
	"html/template"
	"net/http"
	"strings"
	"time"
)

// halfCookie names somebody whose password was right.
const halfCookie = "__Secure-half"

// Routes puts the pages of the sign-in on a provider's routes.
func (s *Site) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /auth/login", s.showForm)
	mux.HandleFunc("POST /auth/login", s.takePassword)
	mux.HandleFunc("GET /auth/second", s.showSecond)
	mux.HandleFunc("POST /auth/second", s.takeCode)
	mux.HandleFunc("GET /auth/push", s.askPush)
	mux.HandleFunc("GET /auth/partner", func(w http.ResponseWriter, _ *http.Request) { show(w, partnerPage, s.cfg.Accounts[0]) })
	mux.HandleFunc("POST /auth/partner", s.takePartner)
	mux.HandleFunc("GET /auth/logout", s.leave)
	mux.HandleFunc("GET /auth/download", s.download)
	mux.HandleFunc("GET /auth/leak", s.leak)
	mux.HandleFunc("GET /api/auth/session", s.tellSession)
	mux.HandleFunc("POST /wall", s.solve)
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte("User-agent: *\nDisallow: /\n"))
	})
	mux.HandleFunc("GET /{$}", s.home)
}

func show(w http.ResponseWriter, t *template.Template, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = t.Execute(w, data)
}

// home is the application's own page. Its policy lets no script reach the network, so that
// nobody collects from it by accident.
func (s *Site) home(w http.ResponseWriter, r *http.Request) {
	a, ok := s.Account(r)
	if !ok {
		show(w, awayPage, nil)
		return
	}
	w.Header().Set("Content-Security-Policy", "connect-src 'none'")
	show(w, homePage, map[string]any{"Name": a.Name, "Page": s.State().Page})
}

func (s *Site) showForm(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.Account(r); ok {
		http.Redirect(w, r, s.cfg.Home, http.StatusSeeOther)
		return
	}
	s.form(w, "")
}

func (s *Site) form(w http.ResponseWriter, fault string) {
	show(w, formPage, map[string]any{"Error": fault, "Page": string(s.State().Page)})
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
		s.wrongOne(known.ID)
		fault = "Wrong e-mail or password."
	case second == None:
		cookie = s.begin(known.ID)
	default:
		value := s.make("half")
		h := &half{account: known.ID}
		if second == Email {
			s.made++
			h.code = totp(s.key, "mail "+known.ID, time.Unix(int64(s.made)*30, 0))
		}
		s.halves[value] = h
		cookie = s.cookie(halfCookie, value)
	}
	s.mu.Unlock()
	if fault != "" {
		s.form(w, fault)
		return
	}
	http.SetCookie(w, cookie)
	to := s.cfg.Home
	if second != None {
		to = "/auth/second"
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// wrongOne counts a wrong password or code, and locks the account at too many.
func (s *Site) wrongOne(account string) {
	s.count.Wrong++
	s.wrong[account]++
	for i := range s.accounts {
		if s.accounts[i].ID == account && s.wrong[account] >= maxWrong {
			s.accounts[i].Locked = true
		}
	}
}

// half is whom the request's cookie names between password and second step.
func (s *Site) half(r *http.Request) (*half, string) {
	c, err := r.Cookie(halfCookie)
	if err != nil {
		return nil, ""
	}
	return s.halves[c.Value], c.Value
}

func (s *Site) showSecond(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h, value := s.half(r)
	second := s.order.Second
	if h != nil && h.approved {
		delete(s.halves, value)
		cookie := s.begin(h.account)
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
		show(w, pushPage, nil)
	default:
		show(w, codePage, map[string]string{"Error": ""})
	}
}

func (s *Site) takeCode(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h, value := s.half(r)
	if h == nil {
		s.mu.Unlock()
		http.Redirect(w, r, "/auth/login", http.StatusSeeOther)
		return
	}
	now, code := s.cfg.Now(), strings.TrimSpace(r.FormValue("code"))
	right := h.code != "" && code == h.code ||
		s.order.Second == TOTP && (code == totp(s.key, h.account, now) || code == totp(s.key, h.account, now.Add(-30*time.Second)))
	if !right {
		s.wrongOne(h.account)
		s.mu.Unlock()
		show(w, codePage, map[string]string{"Error": "That code is not right."})
		return
	}
	delete(s.halves, value)
	cookie := s.begin(h.account)
	s.mu.Unlock()
	http.SetCookie(w, cookie)
	http.Redirect(w, r, s.cfg.Home, http.StatusSeeOther)
}

func (s *Site) askPush(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	h, _ := s.half(r)
	approved := h != nil && h.approved
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]bool{"approved": approved})
}

func (s *Site) takePartner(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	cookie := s.begin(s.accounts[0].ID)
	s.mu.Unlock()
	http.SetCookie(w, cookie)
	show(w, closingPage, map[string]string{"Home": s.cfg.Home})
}

func (s *Site) leave(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if c, err := r.Cookie(s.cfg.Cookie); err == nil {
		delete(s.sessions, c.Value)
	}
	s.mu.Unlock()
	gone := s.cookie(s.cfg.Cookie, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// leak is told by the hostile page of what it may not have.
func (s *Site) leak(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count.Leaks++
	w.WriteHeader(http.StatusNoContent)
}

func (s *Site) download(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	s.count.Downloads++
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="setup.exe"`)
	_, _ = w.Write(make([]byte, 1<<16))
}

// tellSession says who is signed in and gives an access token. Signed out it answers 200 with
// an empty object: the status says nothing.
func (s *Site) tellSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	var out any = struct{}{}
	if x := s.session(r); x != nil {
		a, _ := s.account(x.account)
		out = map[string]any{
			"user":    map[string]string{"id": a.ID, "name": a.Name, "email": a.Email},
			"expires": x.until.UTC().Format(time.RFC3339Nano), "accessToken": s.bearerOf(x),
		}
	}
	s.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, http.StatusOK, out)
}
