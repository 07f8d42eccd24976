package signin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// Page is how the sign-in page behaves.
type Page string

const (
	Form    Page = "form"
	Window  Page = "window"  // the form has a button that signs in in a second window
	Loop    Page = "loop"    // its script never ends
	Replace Page = "replace" // every page's script replaces fetch by one that lies
	// dialogs, downloads, windows, ways to private addresses and files, and hands in the clipboard
	Hostile Page = "hostile"
	Pickers Page = "pickers" // the form asks for a day and a colour as well
)

var allPages = []Page{Form, Window, Loop, Replace, Hostile, Pickers}

// Wall is the state of the robot check.
type Wall string

const (
	WallDown Wall = "down"
	WallUp   Wall = "up"
	WallShut Wall = "shut" // ticking the box leads back to it
)

var allWalls = []Wall{WallDown, WallUp, WallShut}

// Order changes the site. A member that is empty changes nothing.
type Order struct {
	Second Step `json:"second,omitempty"`
	Page   Page `json:"page,omitempty"`
	Wall   Wall `json:"wall,omitempty"`
	// Lock and Unlock name an account.
	Lock   string `json:"lock,omitempty"`
	Unlock string `json:"unlock,omitempty"`
	// Approve approves all pending sign-ins.
	Approve bool `json:"approve,omitempty"`
	// SignOut ends every session everywhere; ExpireBearers lets every access token run out.
	SignOut       bool `json:"sign_out,omitempty"`
	ExpireBearers bool `json:"expire_bearers,omitempty"`
	// ForgetClearance invalidates all clearances.
	ForgetClearance bool `json:"forget_clearance,omitempty"`
	// SessionMS and BearerMS are lives from now on, in milliseconds.
	SessionMS int64 `json:"session_ms,omitempty"`
	BearerMS  int64 `json:"bearer_ms,omitempty"`
}

// Count is what happened.
type Count struct {
	SignIns   int `json:"sign_ins"`
	Wrong     int `json:"wrong"`   // passwords and codes
	Bearers   int `json:"bearers"` // access tokens made
	Walled    int `json:"walled"`  // requests that a wall turned away
	Cleared   int `json:"cleared"` // boxes ticked
	Downloads int `json:"downloads"`
	Leaks     int `json:"leaks"` // things that the hostile page got hold of
}

// State is the site as the control port shows it.
type State struct {
	Second   Step      `json:"second"`
	Page     Page      `json:"page"`
	Wall     Wall      `json:"wall"`
	Accounts []Account `json:"accounts"`
	Sessions int       `json:"sessions"` // that are alive
	Waiting  int       `json:"waiting"`  // people before their second step
	// Codes are what each account's person would read on a phone or in a mail, by account.
	Codes map[string]string `json:"codes"`
	Count Count             `json:"count"`
}

// Do carries an order out.
func (s *Site) Do(o Order) (State, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case o.Second != "" && !slices.Contains(secondSteps, o.Second):
		return State{}, fmt.Errorf("unknown second step %q", o.Second)
	case o.Page != "" && !slices.Contains(allPages, o.Page):
		return State{}, fmt.Errorf("unknown page %q", o.Page)
	case o.Wall != "" && !slices.Contains(allWalls, o.Wall):
		return State{}, fmt.Errorf("unknown wall %q", o.Wall)
	}
	for id, locked := range map[string]bool{o.Lock: true, o.Unlock: false} {
		i := slices.IndexFunc(s.accounts, func(a Account) bool { return a.ID == id })
		switch {
		case id == "":
		case i < 0:
			return State{}, fmt.Errorf("no account %q", id)
		default:
			s.accounts[i].Locked = locked
			s.wrong[id] = 0
		}
	}
	setIfPresent(&s.order.Second, o.Second)
	setIfPresent(&s.order.Page, o.Page)
	setIfPresent(&s.order.Wall, o.Wall)
	if o.SessionMS > 0 {
		s.cfg.SessionLife = time.Duration(o.SessionMS) * time.Millisecond
	}
	if o.BearerMS > 0 {
		s.cfg.BearerLife = time.Duration(o.BearerMS) * time.Millisecond
	}
	for _, h := range s.halves {
		h.approved = h.approved || o.Approve
	}
	if o.SignOut {
		clear(s.sessions)
	}
	if o.ExpireBearers {
		for _, x := range s.sessions {
			x.expires = s.cfg.Now()
		}
	}
	if o.ForgetClearance {
		clear(s.cleared)
	}
	return s.siteState(), nil
}

func setIfPresent[T ~string](to *T, value T) {
	if value != "" {
		*to = value
	}
}

// State returns the state of the site.
func (s *Site) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.siteState()
}

func (s *Site) siteState() State {
	out := State{
		Second: s.order.Second, Page: s.order.Page, Wall: s.order.Wall, Accounts: slices.Clone(s.accounts),
		Waiting: len(s.halves), Codes: map[string]string{}, Count: s.count,
	}
	now := s.cfg.Now()
	for _, x := range s.sessions {
		if now.Before(x.until) {
			out.Sessions++
		}
	}
	for _, a := range s.accounts {
		if s.order.Second == TOTP {
			out.Codes[a.ID] = totpCode(s.key, a.ID, now)
		}
	}
	for _, h := range s.halves {
		if h.code != "" {
			out.Codes[h.account] = h.code
		}
	}
	return out
}

// Control puts the site's control routes before those of a provider.
func (s *Site) Control(rest http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", rest)
	mux.HandleFunc("GET /signin",
		func(w http.ResponseWriter, _ *http.Request) { writeJSONBody(w, http.StatusOK, s.State()) })
	mux.HandleFunc("POST /signin", func(w http.ResponseWriter, r *http.Request) {
		var o Order
		dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
		dec.DisallowUnknownFields()
		err := dec.Decode(&o)
		var state State
		if err == nil {
			state, err = s.Do(o)
		}
		if err != nil {
			writeJSONBody(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
			return
		}
		writeJSONBody(w, http.StatusOK, state)
	})
	return mux
}

func writeJSONBody(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(providersim.EncodeJSON(v))
}
