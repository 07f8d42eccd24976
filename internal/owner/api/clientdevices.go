package api

import (
	"context"
	"net/http"
	"time"
)

func (c *Client) Devices(ctx context.Context) ([]Device, error) {
	return listOf[Device](ctx, c, "_ref", "device-exporters")
}

func (c *Client) RenameDevice(ctx context.Context, id, name string) error {
	body := struct {
		DisplayName string `json:"display_name"`
	}{name}
	return c.send(ctx, http.MethodPatch, body, nil, "_ref", "device-exporters", id)
}

func (c *Client) RevokeDevice(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodPost, nil, nil, "_ref", "device-exporters", id, "revoke")
}

func (c *Client) UndoDevice(ctx context.Context, id string, since time.Time) (DeviceUndone, error) {
	var got DeviceUndone
	body := struct {
		Since time.Time `json:"since"`
	}{since}
	err := c.send(ctx, http.MethodPost, body, &got, "_ref", "device-exporters", id, "undo")
	return got, err
}

func (c *Client) DeviceDiagnostics(ctx context.Context) ([]DeviceDiagnosis, error) {
	return listOf[DeviceDiagnosis](ctx, c, "_ref", "device-exporters", "diagnostics")
}

func (c *Client) AddDevice(ctx context.Context, n NewDevice) (DeviceCode, error) {
	var got DeviceCode
	err := c.send(ctx, http.MethodPost, n, &got, "_ref", "device-exporters", "enrollment-codes")
	return got, err
}

func (c *Client) DeviceCodes(ctx context.Context) ([]DeviceCode, error) {
	return listOf[DeviceCode](ctx, c, "_ref", "device-exporters", "enrollment-codes")
}

func (c *Client) CancelDeviceCode(ctx context.Context, id string) error {
	return c.send(ctx, http.MethodDelete, nil, nil, "_ref", "device-exporters", "enrollment-codes", id)
}
