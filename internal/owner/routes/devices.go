package routes

import (
	"net/http"
	"time"

	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/reply"
)

type undoBody struct {
	Since time.Time `json:"since"`
}

// devices are the owner's addresses beside those of the devices themselves.
func (s *surface) devices() []reply.Route {
	return []reply.Route{
		s.get("GET /_ref/device-exporters", func(r *http.Request) (any, error) {
			return listOf(s.owner.Devices(r.Context()))
		}),
		s.get("GET /_ref/device-exporters/source-instances", func(r *http.Request) (any, error) {
			all, err := s.owner.Devices(r.Context())
			sources := []api.DeviceSource{}
			for _, d := range all {
				sources = append(sources, d.Sources...)
			}
			return listOf(sources, err)
		}),
		put(s, "PATCH /_ref/device-exporters/{id}", func(r *http.Request, b renameBody) error {
			return s.owner.RenameDevice(r.Context(), id(r), b.DisplayName)
		}),
		s.act("POST /_ref/device-exporters/{id}/revoke", func(r *http.Request) error {
			return s.owner.RevokeDevice(r.Context(), id(r))
		}),
		take(s, "POST /_ref/device-exporters/{id}/undo", http.StatusOK, func(r *http.Request, b undoBody) (any, error) {
			return s.owner.UndoDevice(r.Context(), id(r), b.Since)
		}),
		s.get("GET /_ref/device-exporters/diagnostics", func(r *http.Request) (any, error) {
			return listOf(s.owner.DeviceDiagnostics(r.Context()))
		}),
		take(s, "POST /_ref/device-exporters/enrollment-codes", http.StatusCreated, func(r *http.Request, n api.NewDevice) (any, error) {
			return s.owner.AddDevice(r.Context(), n)
		}),
		s.get("GET /_ref/device-exporters/enrollment-codes", func(r *http.Request) (any, error) {
			return listOf(s.owner.DeviceCodes(r.Context()))
		}),
		s.act("DELETE /_ref/device-exporters/enrollment-codes/{id}", func(r *http.Request) error {
			return s.owner.CancelDeviceCode(r.Context(), id(r))
		}),
	}
}
