package server

import (
	"context"
	"fmt"
	"net"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
)

// Codes of a ListenError.
const (
	CodeListenFailed     = "listen_failed"
	CodeListenUnguarded  = "listen_needs_password"
	CodeListenBadAddress = "listen_address"
)

// Listen opens the address. An address that other machines can reach requires a password that the owner chose. The
// password that the first start prints is valid only on the loopback address.
func Listen(ctx context.Context, address string, passwordSet bool) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, &usererr.Error{
			Code: CodeListenBadAddress, Message: "cannot listen on " + address + ": it is no address of this machine", Err: err,
			Next: "Write it like 127.0.0.1:7377.",
		}
	}
	if !at.IP.IsLoopback() && !passwordSet {
		return nil, &usererr.Error{
			Code:    CodeListenUnguarded,
			Message: "not listening on " + address + ": other machines reach it, and you have set no password",
			Next: "Set PDPP_OWNER_PASSWORD (at least 8 characters), or listen on 127.0.0.1 and change the password in the " +
				"settings.",
		}
	}
	// The address that was judged is the one that is opened, not the name again.
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at.String())
	if err != nil {
		return nil, &usererr.Error{
			Code: CodeListenFailed, Message: fmt.Sprintf("cannot listen on %s: %v", address, listenCause(err)), Err: err,
			Next: "Choose another address with --listen, or stop the program that has this one.",
		}
	}
	return l, nil
}

// listenCause drops the part of the error that the message already contains.
func listenCause(err error) error {
	if op, ok := err.(*net.OpError); ok {
		return op.Err
	}
	return err
}
