package wire

import "net/http"

// Action is what a failed request asks of the client.
type Action int

const (
	// Wait and send the same again: nobody has judged it.
	Wait Action = iota
	// Stop the pass: this is not the server now, or it does not know the device.
	Stop
	// Split the upload: it is too large for one.
	Split
	// PutAside what was sent: the server has judged it, and would again.
	PutAside
)

// Action says what to do about the failure.
func (e *Error) Action() Action {
	switch status := e.Status; {
	case e.Code == CodeInvalidRequest && status == 0:
		return PutAside // it could not even be written down
	case status == 0, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status >= 500:
		return Wait
	case status == http.StatusRequestEntityTooLarge:
		return Split // a proxy in between may say so too
	case !e.Ours, status < 400, e.condition() != "":
		return Stop
	default:
		return PutAside
	}
}

// Why a pass is stopped.
const (
	ServerUnreachable = "server_unreachable"
	DeviceUnknown     = "device_unknown"
	SourceUnknown     = "source_unknown"
	SourceDeleted     = "source_deleted"
	UpgradeNeeded     = "upgrade_needed"
)

// Condition names why the server takes nothing from this device now.
func (e *Error) Condition() string {
	if c := e.condition(); e.Ours && c != "" {
		return c
	}
	return ServerUnreachable
}

// condition is what the server's own envelope says about the device rather than about
// what it sent.
func (e *Error) condition() string {
	switch {
	case e.Code == CodeSourceDeleted:
		return SourceDeleted
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		return DeviceUnknown
	case e.Status == http.StatusNotFound, e.Code == CodeSourceUnknown:
		return SourceUnknown
	case e.Code == CodeProtocolMismatch, e.Code == CodeManifestMismatch:
		return UpgradeNeeded
	}
	return ""
}
