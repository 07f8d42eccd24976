package api

import (
	"context"
	"net/http"
)

func (c *Client) PreviewDeletion(ctx context.Context, r DeletionRequest) (Deletion, error) {
	var got Deletion
	err := c.send(ctx, http.MethodPost, r, &got, "_ref", "deletions", "preview")
	return got, err
}

func (c *Client) Delete(ctx context.Context, r DeletionRequest) (Deletion, error) {
	var got Deletion
	err := c.send(ctx, http.MethodPost, r, &got, "_ref", "deletions")
	return got, err
}

func (c *Client) Deletions(ctx context.Context) ([]Deletion, error) {
	return listOf[Deletion](ctx, c, "_ref", "deletions")
}

func (c *Client) DeletionByID(ctx context.Context, id string) (Deletion, error) {
	return fetch[Deletion](ctx, c, "_ref", "deletions", id)
}

func (c *Client) UndoDeletion(ctx context.Context, id string) (Deletion, error) {
	return c.changeDeletion(ctx, id, "undo")
}

func (c *Client) PurgeDeletion(ctx context.Context, id string) (Deletion, error) {
	return c.changeDeletion(ctx, id, "purge")
}

func (c *Client) CollectDeleted(ctx context.Context, id string) (Deletion, error) {
	return c.changeDeletion(ctx, id, "collect")
}

func (c *Client) changeDeletion(ctx context.Context, id, change string) (Deletion, error) {
	var got Deletion
	err := c.send(ctx, http.MethodPost, nil, &got, "_ref", "deletions", id, change)
	return got, err
}

func (c *Client) EndedConnections(ctx context.Context) ([]EndedConnection, error) {
	return listOf[EndedConnection](ctx, c, "_ref", "ended-connections")
}
