package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/owner/assistant"
	"github.com/pdpp-go/pdpp/internal/share/grants"
	"github.com/pdpp-go/pdpp/internal/share/mcp"
	"github.com/pdpp-go/pdpp/internal/share/readapi"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// Assistant configures the answers to one program of the Model Context Protocol.
type Assistant struct {
	In  io.ReadCloser
	Out io.WriteCloser
	// Address and Token are those of a server. Without an address, Store answers.
	Address, Token string
	HTTP           http.RoundTripper
	// Store, Blobs, Auth and Audit are those of this machine. Without a token its owner asks.
	Store store.Store
	Blobs blob.Storage
	Auth  *auth.Auth
	Audit *audit.Trail
	// Facts are the owner's operations, which callers with a grant never reach.
	Facts assistant.Facts
	// Operate adds the tools that change something, for the owner only.
	Operate bool
	Version string
	Now     func() time.Time
	Log     *slog.Logger
}

// ErrOperateNeedsOwner is returned for --operate with the token of a grant, or with any token on this machine.
var ErrOperateNeedsOwner = errors.New("only the owner can let assistants operate, and this token is not enough")

// AnswerAssistant answers until the input or the context ends.
func AnswerAssistant(ctx context.Context, a Assistant) error {
	reader := mcp.Reader{Base: a.Address, Token: a.Token, Transport: a.HTTP}
	if a.Address == "" {
		routes, err := a.localRoutes(ctx)
		if err != nil {
			return err
		}
		reader.Base, reader.Transport = "http://pdpp", mcp.HandlerTransport(routes)
		if reader.Token == "" {
			reader.Token = "this machine"
		}
	}
	c := mcp.Config{Reader: reader, Version: a.Version, Log: a.Log}
	// The owner's operations of this machine check no token, so that a caller with one never reaches them.
	isOwner := a.Token == "" || a.Address != "" && !grants.IsToken(a.Token)
	switch {
	case !isOwner && a.Operate:
		return ErrOperateNeedsOwner
	case isOwner:
		c.Owner = assistant.Owner{Facts: a.Facts}
		if a.Operate {
			c.Operator = assistant.Owner{Facts: a.Facts}
		}
	}
	err := mcp.NewServer(c).Run(ctx, &sdk.IOTransport{Reader: a.In, Writer: a.Out})
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// localRoutes returns the routes of clients over the data of this machine.
func (a Assistant) localRoutes(ctx context.Context) (http.Handler, error) {
	cursors, err := grants.NewCursors(ctx, a.Store, a.Now())
	if err != nil {
		return nil, fmt.Errorf("make the key of cursors: %w", err)
	}
	isOwner := a.Auth.IsOwner
	if a.Token == "" {
		isOwner = func(*http.Request) (bool, error) { return true, nil }
	}
	routes := http.NewServeMux()
	for _, route := range readapi.Routes(readapi.Config{Grants: grants.NewService(a.Store, "", a.Now),
		Cursors: cursors, Store: a.Store, Blobs: a.Blobs, IsOwner: isOwner, Audit: a.Audit, Now: a.Now, Log: a.Log}) {
		routes.Handle(route.Pattern, route.Handle)
	}
	return routes, nil
}
