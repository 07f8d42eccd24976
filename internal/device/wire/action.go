package wire

import "net/http"

// Action is what a failed request asks of the client.
type Action int

const (
	// Wait means to send the same request again later: the server has not rejected it.
	Wait Action = iota
	// Stop means to end the pass: the answer is not from the server, or the server does not know the
	// device.
	Stop
	// Split means to divide the upload, because it is too large.
	Split
	// PutAside means to stop sending the request: the server rejected it and would reject it again.
	PutAside
)

// Action returns how the device must handle the failure.
func (e *Error) Action() Action {
	switch status := e.Status; {
	case e.Code == CodeInvalidRequest && status == 0:
		return PutAside // it could not even be written down
	case status == 0, status == http.StatusRequestTimeout, status == http.StatusTooEarly,
		status == http.StatusTooManyRequests, status >= 500:
		return Wait
	case status == http.StatusRequestEntityTooLarge:
		return Split // a proxy in between may also send this status
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

// condition returns the state of the device that the server's error envelope reports. It is empty if
// the error concerns the request.
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
