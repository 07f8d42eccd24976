package manage

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/ops/text"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
	"github.com/pdpp-go/pdpp/internal/view"
)

// devicesPage is the computers that collect, and how what they feed is.
type devicesPage struct {
	Active, Revoked []api.Device
	Codes           []api.DeviceCode            // that wait for a computer
	Feeds           map[string]*view.Connection // by connection; not there when it is revoked
}

// devicesOf gathers the computers and what they feed.
func (p *pages) devicesOf(r *http.Request) (*devicesPage, error) {
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

func (p *pages) devices(w http.ResponseWriter, r *http.Request) {
	page, err := p.devicesOf(r)
	if err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	f := p.frame(w, r, "Devices", "devices")
	p.show(w, r, http.StatusOK, f, devicesBody(page, p.Now()))
}

// device shows one computer, also a revoked one.
func (p *pages) device(w http.ResponseWriter, r *http.Request) {
	id, ok := p.segmentOf(w, r, "id", "devices")
	if !ok {
		return
	}
	page, err := p.devicesOf(r)
	if err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	for _, d := range append(page.Active, page.Revoked...) {
		if d.ID == id {
			p.show(w, r, http.StatusOK, p.frame(w, r, d.DisplayName, "devices"), deviceBody(page, d, p.Now()))
			return
		}
	}
	p.fail(w, r, "devices", api.NotFound("There is no such device.", "Look at the list of devices."))
}

func (p *pages) renameDevice(w http.ResponseWriter, r *http.Request) {
	id, ok := p.segmentOf(w, r, "id", "devices")
	if !ok || !p.form(w, r, "devices") {
		return
	}
	if err := p.Owner.RenameDevice(r.Context(), id, r.PostForm.Get("name")); err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	ui.Done(w, r, "/devices/"+segment(id), ui.Good("Renamed."))
}

func (p *pages) revokeDevice(w http.ResponseWriter, r *http.Request) {
	id, ok := p.segmentOf(w, r, "id", "devices")
	if !ok || !p.form(w, r, "devices") {
		return
	}
	since, err := p.sinceOf(r)
	if err == nil {
		err = p.Owner.RevokeDevice(r.Context(), id)
	}
	if err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	if since.IsZero() {
		ui.Done(w, r, "/devices", ui.Good("Revoked. It sends nothing any more; what it sent stays."))
		return
	}
	p.takeBack(w, r, id, since)
}

// undoDevice takes back what a revoked device sent.
func (p *pages) undoDevice(w http.ResponseWriter, r *http.Request) {
	id, ok := p.segmentOf(w, r, "id", "devices")
	if !ok || !p.form(w, r, "devices") {
		return
	}
	since, err := p.sinceOf(r)
	if err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	p.takeBack(w, r, id, since)
}

func (p *pages) takeBack(w http.ResponseWriter, r *http.Request, id string, since time.Time) {
	done, err := p.Owner.UndoDevice(r.Context(), id, since)
	if err != nil {
		p.fail(w, r, "devices", err)
		return
	}
	ui.Done(w, r, "/devices/"+segment(id), ui.Good("Revoked, and taken back: "+undoneWords(done)+"."))
}

// sinceOf reads the moment from which on nothing that a device sent is kept; zero for none.
func (p *pages) sinceOf(r *http.Request) (time.Time, error) {
	said := r.PostForm.Get("since")
	if said == "" {
		return time.Time{}, nil
	}
	at, err := time.ParseInLocation(momentForm, said, p.Now().Location())
	if err != nil {
		return time.Time{}, api.Invalid("since", "That is not a time.", "Choose a day and a time.")
	}
	return at, nil
}

// momentForm is how a browser sends a day with a time.
const momentForm = "2006-01-02T15:04"

// undoneWords tell what was taken back.
func undoneWords(d api.DeviceUndone) string {
	return text.Count(d.Restored, "record is as it was before", "records are as they were before") + ", " +
		text.Count(d.Deleted, "record was deleted", "records were deleted")
}

// sourceNames lists what a device collected.
func sourceNames(d api.Device) string {
	var words []string
	for _, s := range d.Sources {
		words = append(words, s.DisplayName)
	}
	return text.List(words)
}

// waitingWords tell what a source holds, as its device counted it; empty when it is not known.
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

// skewWords tell how far the device's clock is off; empty when it is right or not known.
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
		return "The clock there is " + text.Span(off) + " ahead"
	}
	return "The clock there is " + text.Span(-off) + " behind"
}

// scopeWords tell what a source is limited to.
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
