package mcp

import (
	"context"
	"log/slog"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Path is where a server answers assistants over HTTP.
const Path = "/mcp"

// MetadataPath is where the metadata of Path is (RFC 9728).
const MetadataPath = "/.well-known/oauth-protected-resource" + Path

// maxRequest bounds the body of one request.
const maxRequest = 1 << 20

// callerKey is the key of the request that is being answered, in its context.
type callerKey struct{}

// HTTPConfig is what the handler of Path is made of.
type HTTPConfig struct {
	// Routes answers /v1. Every tool reads through it with the caller's own token.
	Routes http.Handler
	// Admit returns whether the caller of a request is the owner, or why it may not read.
	Admit func(r *http.Request) (isOwner bool, err error)
	// Refuse answers a request that Admit rejected.
	Refuse func(w http.ResponseWriter, r *http.Request, err error)
	// Owner answers owners. Grants never reach it.
	Owner   Owner
	Version string
	Log     *slog.Logger
}

// Handler returns the handler of Path: stateless, with JSON answers. It admits each request by its bearer token, so a
// revoked token ends with the next request. It has no operating tools.
func Handler(c HTTPConfig) http.Handler {
	reader := Reader{Base: "http://pdpp", Transport: HandlerTransport(c.Routes)}
	forGrants := NewServer(Config{Reader: reader, Version: c.Version, Log: c.Log})
	forOwner := NewServer(Config{Reader: reader, Owner: c.Owner, Version: c.Version, Log: c.Log})
	// The server checks the name of the host for every route, and knows the name that a proxy in front of it has.
	options := &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxRequest,
		DisableLocalhostProtection: true, PropagateRequestCancellation: true}
	type ownerKey struct{}
	next := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
		if r.Context().Value(ownerKey{}) != nil {
			return forOwner
		}
		return forGrants
	}, options)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isOwner, err := c.Admit(r)
		if err != nil {
			c.Refuse(w, r, err)
			return
		}
		ctx := context.WithValue(r.Context(), callerKey{}, r)
		if isOwner {
			ctx = context.WithValue(ctx, ownerKey{}, true)
		}
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}
