package api

import (
	"context"
	"net/http"
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
