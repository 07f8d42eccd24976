package status

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/owner/console/ui"
)

// newDeviceForm asks what a computer is to collect, as it was filled in.
type newDeviceForm struct {
	api.Connector
	Name, Binding  string
	Since, Folders string
	Problem        *ui.Message
	Param          string // the field that the problem is about
}

// dateForm is how a browser sends a date.
const dateForm = "2006-01-02"

// deviceConnector returns a connector that a computer can collect with. If there is none, it
// writes the response and returns false.
func (p *Pages) deviceConnector(w http.ResponseWriter, r *http.Request) (newDeviceForm, bool) {
	all, err := p.owner.Connectors(r.Context())
	if err != nil {
		p.fail(w, r, err)
		return newDeviceForm{}, false
	}
	for _, c := range all {
		if c.ID == r.PathValue("connector") && c.OnDevices {
			return newDeviceForm{Connector: c, Name: c.DisplayName}, true
		}
	}
	p.fail(w, r, api.NotFound("No computer collects this.", "Choose what to collect under Add."))
	return newDeviceForm{}, false
}

func (p *Pages) getNewDevice(w http.ResponseWriter, r *http.Request) {
	form, ok := p.deviceConnector(w, r)
	if !ok {
		return
	}
	if connection := r.URL.Query().Get("connection"); connection != "" {
		var err error
		if form.Binding, err = p.bindingOf(r.Context(), connection); err != nil {
			p.fail(w, r, err)
			return
		}
		form.Name = ""
	}
	p.showNewDevice(w, r, http.StatusOK, &form)
}

// bindingOf is the source of a connection, which another computer is to take over.
func (p *Pages) bindingOf(ctx context.Context, connection string) (string, error) {
	all, err := p.owner.Devices(ctx)
	if err != nil {
		return "", err
	}
	for _, d := range all {
		for _, s := range d.Sources {
			if s.ConnectionID == connection {
				return s.LocalBindingName, nil
			}
		}
	}
	return "", api.NotFound("No device has collected this.", "Add one under Devices.")
}

func (p *Pages) showNewDevice(w http.ResponseWriter, r *http.Request, status int, form *newDeviceForm) {
	f := ui.Frame{Title: "Add " + form.DisplayName, Active: "devices", Now: p.now(), Flash: ui.TakeFlash(w, r)}
	ui.Render(w, r, status, ui.Page(f, newDevicePage(form)))
}

func (p *Pages) postNewDevice(w http.ResponseWriter, r *http.Request) {
	form, ok := p.deviceConnector(w, r)
	if !ok {
		return
	}
	form.Name, form.Binding = strings.TrimSpace(r.PostFormValue("display_name")), r.PostFormValue("binding")
	form.Since, form.Folders = r.PostFormValue("since"), r.PostFormValue("folders")
	made, err := p.makeCode(r, &form)
	if err != nil {
		var known *api.Error
		if errors.As(err, &known) {
			form.Param = known.Param
		}
		m, status := ui.MessageFor(w, err)
		form.Problem = &m
		p.showNewDevice(w, r, status, &form)
		return
	}
	p.showPairing(w, r, made)
}

// makeCode reads the form. Folders are one a line.
func (p *Pages) makeCode(r *http.Request, form *newDeviceForm) (api.DeviceCode, error) {
	var scope api.CollectionScope
	if form.Since != "" {
		from, err := time.ParseInLocation(dateForm, form.Since, p.now().Location())
		if err != nil {
			return api.DeviceCode{}, api.Invalid("since", "That is not a date.", "Choose a day.")
		}
		scope.Since = &from
	}
	for line := range strings.Lines(form.Folders) {
		if line = strings.TrimSpace(line); line != "" {
			scope.SourceRoots = append(scope.SourceRoots, line)
		}
	}
	return p.owner.AddDevice(r.Context(), api.NewDevice{
		ConnectorID: form.ID, LocalBindingName: form.Binding, DisplayName: form.Name, CollectionScope: &scope,
	})
}

// codeByID finds a code of the last day.
func (p *Pages) codeByID(ctx context.Context, id string) (api.DeviceCode, error) {
	all, err := p.owner.DeviceCodes(ctx)
	if err != nil {
		return api.DeviceCode{}, err
	}
	for _, c := range all {
		if c.ID == id {
			return c, nil
		}
	}
	return api.DeviceCode{}, api.NotFound("There is no such code any more.", "Look under Devices, or make a new one.")
}

func (p *Pages) getPairing(w http.ResponseWriter, r *http.Request) {
	c, err := p.codeByID(r.Context(), r.PathValue("id"))
	if err != nil {
		p.fail(w, r, err)
		return
	}
	p.showPairing(w, r, c)
}

// showPairing shows a pairing code that waits for a computer. The command is shown only right
// after its creation. It is outside the live parts, because nothing else stores it.
func (p *Pages) showPairing(w http.ResponseWriter, r *http.Request, c api.DeviceCode) {
	parts, err := pairingParts(r.Context(), c, p.now())
	if err != nil {
		p.fail(w, r, err)
		return
	}
	f := ui.Frame{Title: "Connect " + c.DisplayName, Active: "devices", Now: p.now(), Flash: ui.TakeFlash(w, r)}
	if c.Status == api.CodeWaiting {
		f.Live = codePath(c.ID) + "/events?" + url.Values{"seen": {parts.digest()}}.Encode()
	}
	ui.Render(w, r, http.StatusOK, ui.Page(f, pairingPage(c, parts, p.now())))
}

func pairingParts(ctx context.Context, c api.DeviceCode, now time.Time) (pieces, error) {
	part, err := render(ctx, "pairing", pairing(c, now))
	return pieces{part}, err
}

// lookAtCode returns a look that shows a code until the code no longer waits for a computer.
func (p *Pages) lookAtCode(id string) look {
	return func(ctx context.Context) (pieces, error) {
		c, err := p.codeByID(ctx, id)
		if err != nil {
			return nil, err
		}
		parts, err := pairingParts(ctx, c, p.now())
		if err == nil && c.Status != api.CodeWaiting {
			err = errOver
		}
		return parts, err
	}
}

func (p *Pages) getPairingEvents(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	p.stream(w, r, "code "+id, p.lookAtCode(id))
}

func (p *Pages) postCancelCode(w http.ResponseWriter, r *http.Request) {
	err := p.owner.CancelDeviceCode(r.Context(), r.PathValue("id"))
	p.done(w, r, err, "/settings/devices", ui.Good("Cancelled. That command no longer works."))
}

func codePath(id string) string { return "/settings/devices/codes/" + url.PathEscape(id) }
func replacePath(connector, connection string) string {
	return newDevicePath(connector) + "?" + url.Values{"connection": {connection}}.Encode()
}
func newDevicePath(id string) string { return "/sources/add/" + url.PathEscape(id) + "/device" }

// pairingWords returns the state of a code for screen readers.
func pairingWords(c api.DeviceCode) string {
	if c.Status == api.CodeConnected {
		return "Connected: " + c.DeviceName
	}
	return "The code is " + c.Status
}
