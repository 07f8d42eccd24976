package signin

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/providersim"
)

// StreamEntries is the one stream of [Diary.Truth].
const StreamEntries = "entries"

// Diary is the smallest provider behind a sign-in: the entries of one diary per account, which
// only its pages can read.
//
//	GET /api/entries?after=N  {"entries":[{"id","at","text"}],"next":N}  oldest first; next is null at the end
//	401 {"error":"signed_out"}; lists need the access token of the session call
type Diary struct {
	site *Site
	gate *providersim.Gate
	page int

	mu      sync.Mutex
	began   time.Time
	entries int
}

// DiaryConfig sets the size of the diary.
type DiaryConfig struct {
	Config
	Entries int
	// PerPage is how many entries an answer holds; zero means 20.
	PerPage int
	// Addr and ControlAddr are the loopback addresses of [StartDiary]; empty means a free port.
	Addr, ControlAddr string
}

// NewDiary makes a diary.
func NewDiary(cfg DiaryConfig) *Diary {
	if cfg.PerPage == 0 {
		cfg.PerPage = 20
	}
	d := &Diary{site: New(cfg.Config), page: cfg.PerPage, entries: cfg.Entries,
		began: time.Date(2025, 2, 3, 7, 0, 0, 0, time.UTC)}
	d.gate = providersim.NewGate(providersim.GateOptions{Now: cfg.Now})
	return d
}

// Site is the sign-in in front of the diary.
func (d *Diary) Site() *Site { return d.site }

// Gate returns the gate, which has faults and counters.
func (d *Diary) Gate() *providersim.Gate { return d.gate }

// Handler serves the site.
func (d *Diary) Handler() http.Handler {
	mux := http.NewServeMux()
	d.site.Routes(mux)
	mux.HandleFunc("GET /api/entries", d.serveEntries)
	return d.site.Guard(d.gate.Wrap(mux))
}

// ControlHandler serves the control port.
func (d *Diary) ControlHandler() http.Handler {
	return d.site.Control(providersim.ControlHandler(d, d.gate))
}

func (d *Diary) serveEntries(w http.ResponseWriter, r *http.Request) {
	if _, access := d.site.Authorize(r); access != Granted {
		writeJSONBody(w, http.StatusUnauthorized, map[string]string{"error": "signed_out"})
		return
	}
	after, err := strconv.Atoi(r.URL.Query().Get("after"))
	if err != nil {
		after = 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := struct {
		Entries []diaryEntry `json:"entries"`
		Next    *int         `json:"next"`
	}{Entries: []diaryEntry{}}
	last := min(after+d.page, d.entries)
	for n := after; n < last; n++ {
		out.Entries = append(out.Entries, d.entryAt(n))
	}
	if last < d.entries {
		out.Next = &last
	}
	writeJSONBody(w, http.StatusOK, out)
}

type diaryEntry struct {
	ID   string `json:"id"`
	At   string `json:"at"`
	Text string `json:"text"`
}

var sampleSentences = []string{"Rain until noon.", "The heron came back.", "Planted the beans.",
	"Long walk to the weir.",
	"Letters all evening."}

func (d *Diary) entryAt(n int) diaryEntry {
	return diaryEntry{
		ID: fmt.Sprintf("entry-%05d", n+1), At: d.began.Add(time.Duration(n) * 11 * time.Hour).Format(time.RFC3339),
		Text: sampleSentences[n%len(sampleSentences)] + " " + strconv.Itoa(n+1),
	}
}

// Truth is every entry.
func (d *Diary) Truth() providersim.Truth {
	d.mu.Lock()
	defer d.mu.Unlock()
	items := map[string]providersim.Item{}
	for n := range d.entries {
		e := d.entryAt(n)
		items[e.ID] = providersim.Item{Data: providersim.EncodeJSON(e)}
	}
	return providersim.Truth{StreamEntries: items}
}

// Mutate supports add_entries.
func (d *Diary) Mutate(m providersim.Mutation) (providersim.Mutated, error) {
	if m.Op != "add_entries" || m.N < 1 {
		return providersim.Mutated{}, fmt.Errorf("unknown mutation %q of %d", m.Op, m.N)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	out := providersim.Mutated{Op: m.Op}
	for range m.N {
		out.IDs = append(out.IDs, d.entryAt(d.entries).ID)
		d.entries++
	}
	out.Now = d.began.Add(time.Duration(d.entries) * 11 * time.Hour)
	return out, nil
}

// ChangeToken lets the access tokens run out (expire) or ends every session (revoke).
func (d *Diary) ChangeToken(c providersim.TokenChange) (providersim.TokenStatus, error) {
	return d.site.ChangeToken(c)
}

// ChangeToken implements [providersim.Provider], as far as it applies to a sign-in.
func (s *Site) ChangeToken(c providersim.TokenChange) (providersim.TokenStatus, error) {
	o := Order{ExpireBearers: c.Action == "expire", SignOut: c.Action == "revoke"}
	if !o.ExpireBearers && !o.SignOut {
		return providersim.TokenStatus{}, fmt.Errorf("a sign-in has no token to %s", c.Action)
	}
	if _, err := s.Do(o); err != nil {
		return providersim.TokenStatus{}, err
	}
	return providersim.TokenStatus{State: providersim.TokenRevoked}, nil
}

// Server is a running diary.
type Server struct {
	*providersim.Server
	Diary *Diary
}

// StartDiary serves a new diary and its control port on loopback.
func StartDiary(cfg DiaryConfig) (*Server, error) {
	d := NewDiary(cfg)
	s, err := providersim.Serve(cfg.Addr, d.Handler(), cfg.ControlAddr, d.ControlHandler())
	if err != nil {
		return nil, fmt.Errorf("start diary: %w", err)
	}
	return &Server{Server: s, Diary: d}, nil
}
