package admin

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
)

// auditPage is what was done, by day.
type auditPage struct {
	// Reading is shown only above the newest entries.
	Reading  *readings
	Days     []auditDay
	Kind     string
	Span     string // in days; empty means everything that is kept
	KeptDays int
	Older    string // address of the next page
	Problem  *ui.FormProblem
	Typed    string // how long to keep entries, as typed
}

type auditDay struct {
	Name    string
	Entries []api.AuditEntry
}

// auditChoice is a value of a list with its words.
type auditChoice struct{ Value, Words string }

var (
	auditKinds = []auditChoice{
		{"", "Everything"}, {"reading", "Reading"}, {"sign_ins", "Sign-ins"}, {"grants", "Grants and tokens"},
		{"exports", "Exports and backups"}, {"settings", "Settings"},
	}
	auditSpans = []auditChoice{{"7", "Last 7 days"}, {"30", "Last 30 days"}, {"", "Any time"}}
)

func (p *adminPages) audit(w http.ResponseWriter, r *http.Request) {
	p.showAudit(w, r, http.StatusOK, &auditPage{})
}

func (p *adminPages) showAudit(w http.ResponseWriter, r *http.Request, status int, page *auditPage) {
	query := r.URL.Query()
	page.Kind, page.Span = query.Get("kind"), query.Get("days")
	q := api.AuditQuery{Kind: page.Kind}
	if days, err := strconv.Atoi(page.Span); err == nil && days > 0 && days < 10000 {
		since := p.Now().AddDate(0, 0, -days)
		q.Since = &since
	}
	q.Before, _ = strconv.ParseInt(query.Get("before"), 10, 64) // nonsense means the newest
	if q.Before == 0 {
		reading, err := p.readings(r.Context())
		if err != nil {
			p.ShowFailure(w, r, "sharing", err)
			return
		}
		page.Reading = &reading
	}
	found, err := p.Owner.Audit(r.Context(), q)
	if err != nil {
		p.ShowFailure(w, r, "sharing", err)
		return
	}
	page.KeptDays = found.KeptDays
	if page.Typed == "" {
		page.Typed = strconv.Itoa(found.KeptDays)
	}
	for _, e := range found.Entries {
		name := dayName(e.LastAt, p.Now())
		if n := len(page.Days); n == 0 || page.Days[n-1].Name != name {
			page.Days = append(page.Days, auditDay{Name: name})
		}
		last := &page.Days[len(page.Days)-1]
		last.Entries = append(last.Entries, e)
	}
	if found.Next > 0 {
		page.Older = "/sharing/reads?" + url.Values{"kind": {page.Kind}, "days": {page.Span},
			"before": {strconv.FormatInt(found.Next, 10)}}.Encode()
	}
	p.ShowPage(w, r, status, p.PageFrame(w, r, "Who did what", "sharing"), auditBody(page, p.Now()))
}

// dayName is a day: by name when it is near.
func dayName(t, now time.Time) string {
	switch t.In(now.Location()).Format(time.DateOnly) {
	case now.Format(time.DateOnly):
		return "Today"
	case now.AddDate(0, 0, -1).Format(time.DateOnly):
		return "Yesterday"
	}
	return words.LongDay(t, now)
}

func (p *adminPages) setAuditRetention(w http.ResponseWriter, r *http.Request) {
	if !p.ParseForm(w, r, "sharing") {
		return
	}
	typed := r.PostFormValue("days")
	days, err := strconv.Atoi(typed)
	if err != nil {
		found := ui.FieldProblem("days", "That is not a number of days. Use 30 to 3650.")
		p.showAudit(w, r, found.Status, &auditPage{Problem: &found, Typed: typed})
		return
	}
	if err := p.Owner.SetAuditRetention(r.Context(), days); err != nil {
		found := p.ProblemOf(w, r, err)
		p.showAudit(w, r, found.Status, &auditPage{Problem: &found, Typed: typed})
		return
	}
	ui.Done(w, r, "/sharing/reads", ui.Good("Saved. Entries are kept for "+text.Count(int64(days), "day", "days")+"."))
}

// spoken parts a sentence after the name of who did it, which is empty where it does not begin
// with one.
func spoken(e api.AuditEntry) (who, rest string) {
	if rest, ok := strings.CutPrefix(e.Sentence, e.Actor.Name+" "); ok && e.Actor.Name != "" {
		return e.Actor.Name, " " + rest
	}
	return "", e.Sentence
}

// auditFrom returns the actor of an entry and its origin, short enough for a narrow column.
func auditFrom(e api.AuditEntry) string {
	who := ""
	switch e.Actor.Kind {
	case "owner_token":
		who = "token " + e.Actor.ID
	case "grant":
		who = "grant " + e.Actor.ID
	}
	if who != "" && e.Actor.Address != "" {
		who += ", "
	}
	return who + e.Actor.Address
}
