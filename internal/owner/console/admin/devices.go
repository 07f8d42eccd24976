package admin

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/owner/words"
	"github.com/pdpp-go/pdpp/internal/view"
)

// devicesPage is the computers that collect, and how what they feed is.
type devicesPage struct {
	Active, Revoked []api.Device
	Codes           []api.DeviceCode            // that wait for a computer
	Feeds           map[string]*view.Connection // by connection; not there when it is revoked
}

// devicesOf gathers the computers and what they feed.
func (p *adminPages) devicesOf(r *http.Request) (*devicesPage, error) {
	all, err := p.Owner.Devices(r.Context())
	if err != nil {
		return nil, err
	}
	codes, err := p.Owner.DeviceCodes(r.Context())
	if err != nil {
		return nil, err
	}
	overview, err := p.Owner.Overview(r.Context())
	if err != nil {
		return nil, err
	}
	page := &devicesPage{Feeds: map[string]*view.Connection{}}
	for i := range overview.Connections {
		c := &overview.Connections[i]
		page.Feeds[c.ID] = c
	}
	for _, d := range all {
		if d.Status == "revoked" {
			page.Revoked = append(page.Revoked, d)
		} else {
			page.Active = append(page.Active, d)
		}
	}
	for _, c := range codes {
		if c.Status == api.CodeWaiting {
			page.Codes = append(page.Codes, c)
		}
	}
	return page, nil
}

func (p *adminPages) devices(w http.ResponseWriter, r *http.Request) {
	page, err := p.devicesOf(r)
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	f := p.PageFrame(w, r, "Devices", "settings")
	p.ShowPage(w, r, http.StatusOK, f, devicesBody(page, p.Now()))
}

// device shows one computer, also a revoked one.
func (p *adminPages) device(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok {
		return
	}
	page, err := p.devicesOf(r)
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	for _, d := range append(page.Active, page.Revoked...) {
		if d.ID == id {
			p.ShowPage(w, r, http.StatusOK, p.PageFrame(w, r, d.DisplayName, "settings"), deviceBody(page, d, p.Now()))
			return
		}
	}
	p.ShowFailure(w, r, "settings", api.NotFound("There is no such device.", "Look at the list of devices."))
}

func (p *adminPages) renameDevice(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok || !p.ParseForm(w, r, "settings") {
		return
	}
	if err := p.Owner.RenameDevice(r.Context(), id, r.PostForm.Get("name")); err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	ui.Done(w, r, "/settings/devices/"+ui.Segment(id), ui.Good("Renamed."))
}

func (p *adminPages) revokeDevice(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok || !p.ParseForm(w, r, "settings") {
		return
	}
	since, err := p.sinceOf(r)
	if err == nil {
		err = p.Owner.RevokeDevice(r.Context(), id)
	}
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	if since.IsZero() {
		ui.Done(w, r, "/settings/devices", ui.Good("Revoked. It sends nothing any more; what it sent stays."))
		return
	}
	p.takeBack(w, r, id, since)
}

// undoDevice takes back what a revoked device sent.
func (p *adminPages) undoDevice(w http.ResponseWriter, r *http.Request) {
	id, ok := p.PathSegment(w, r, "id", "settings")
	if !ok || !p.ParseForm(w, r, "settings") {
		return
	}
	since, err := p.sinceOf(r)
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	p.takeBack(w, r, id, since)
}

func (p *adminPages) takeBack(w http.ResponseWriter, r *http.Request, id string, since time.Time) {
	done, err := p.Owner.UndoDevice(r.Context(), id, since)
	if err != nil {
		p.ShowFailure(w, r, "settings", err)
		return
	}
	ui.Done(w, r, "/settings/devices/"+ui.Segment(id), ui.Good("Revoked, and taken back: "+words.DeviceUndone(done)+"."))
}

// sinceOf reads the moment from which on nothing that a device sent is kept; zero for none.
func (p *adminPages) sinceOf(r *http.Request) (time.Time, error) {
	message := r.PostForm.Get("since")
	if message == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation(momentForm, message, p.Now().Location())
	if err != nil {
		return time.Time{}, api.Invalid("since", "That is not a time.", "Choose a day and a time.")
	}
	return at, nil
}

// momentForm is how a browser sends a day with a time.
const momentForm = "2006-01-02T15:04"

// sourceNames lists what a device collected.
func sourceNames(d api.Device) string {
	var words []string
	for _, s := range d.Sources {
		words = append(words, s.DisplayName)
	}
	return text.List(words)
}

// waitingWords returns how much a source has queued, as its device counted it. It returns "" if
// that is unknown.
func waitingWords(s api.DeviceSource) string {
	if s.Queue == nil {
		return ""
	}
	line := "Nothing waits there"
	if s.Queue.Pending > 0 {
		line = text.Count(s.Queue.Pending, "upload waits there", "uploads wait there")
	}
	if s.Queue.DeadLetter > 0 {
		line += ", " + text.Number(s.Queue.DeadLetter) + " failed"
	}
	return line
}

// skewWords returns how far the device's clock is off, or "" if it is right or unknown.
func skewWords(s api.DeviceSource) string {
	const tolerated = 5 * time.Minute
	if s.ClockSkewSeconds == nil {
		return ""
	}
	off := time.Duration(*s.ClockSkewSeconds) * time.Second
	if off.Abs() <= tolerated {
		return ""
	}
	if off > 0 {
		return "The clock there is " + text.DurationWords(off) + " ahead"
	}
	return "The clock there is " + text.DurationWords(-off) + " behind"
}

// scopeWords returns what a source is limited to.
func scopeWords(s api.DeviceSource, zone *time.Location) string {
	if s.CollectionScope == nil {
		return "Everything"
	}
	line := "Everything"
	if roots := s.CollectionScope.SourceRoots; len(roots) > 0 {
		line = text.List(roots)
	}
	if since := s.CollectionScope.Since; since != nil {
		line += ", from " + since.In(zone).Format("2 January 2006") + " on"
	}
	return line
}

func orUnknown(words string) string {
	if words == "" {
		return "not known"
	}
	return words
}
