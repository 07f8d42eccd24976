package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/keep/audit"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/ops/fault"
)

const (
	settingHash   = "owner_password_hash"
	settingChosen = "owner_password_chosen"

	minPassword = 8    // characters
	maxPassword = 1024 // bytes
)

// Setup makes sure that there is a password. A given one becomes the password
// unless it is already. Otherwise, when there is none, one is made and given back:
// it can be shown now and never again. Of several processes that start at once,
// one makes it.
func (d *Auth) Setup(ctx context.Context, given string) (shown string, err error) {
	hash, err := d.storedHash(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case given != "":
		return "", d.setGiven(ctx, given, hash)
	case hash != "":
		return "", nil
	}
	made := makePassword()
	if hash, err = d.hash(ctx, made); err != nil {
		return "", err
	}
	counts, err := d.store.InitSetting(ctx, settingHash, []byte(hash), d.now())
	if err != nil {
		return "", fmt.Errorf("keep the first password: %w", err)
	}
	if string(counts) != hash {
		return "", nil
	}
	return made, nil
}

func (d *Auth) setGiven(ctx context.Context, given, hash string) error {
	if err := acceptable(given); err != nil {
		return err
	}
	if hash != "" {
		same, err := d.matches(ctx, given, hash)
		if err != nil {
			return err
		}
		if same {
			return d.choose(ctx)
		}
	}
	err := d.SetPassword(ctx, given, hash == "") // where there was none, none is changed
	d.record(ctx, audit.Entry{Kind: audit.PasswordChange}, err)
	return err
}

// Chosen says whether the owner chose the password. One that was made at the first
// start does not count: it was printed, to a terminal at best and to a log that
// others read at worst, and is meant for the machine that it was printed on.
func (d *Auth) Chosen(ctx context.Context) (bool, error) {
	_, err := d.store.Setting(ctx, settingChosen)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read whose password it is: %w", err)
	}
	return true, nil
}

// SetPassword replaces the password: for somebody who has the database in hand, or who
// has just shown that they are the owner. It ends every session but the one that asks,
// and every owner token but the one that asks, unless those are kept.
func (d *Auth) SetPassword(ctx context.Context, password string, keepTokens bool) error {
	if err := acceptable(password); err != nil {
		return err
	}
	hash, err := d.hash(ctx, password)
	if err != nil {
		return err
	}
	who, _ := From(ctx)
	if !keepTokens { // first, so that one who is interrupted has ended too much and not too little
		if err := d.store.RevokeOwnerTokens(ctx, who.TokenID, d.now()); err != nil {
			return fmt.Errorf("end the tokens: %w", err)
		}
	}
	// From this write on the sessions of the old password are refused; dropping them
	// tidies up.
	if err := d.store.PutSetting(ctx, settingHash, []byte(hash), d.now()); err != nil {
		return fmt.Errorf("keep the password: %w", err)
	}
	if err := d.choose(ctx); err != nil {
		return err
	}
	if err := d.store.DropSessions(ctx, who.session); err != nil {
		return fmt.Errorf("end the sessions: %w", err)
	}
	if who.session == nil {
		return nil
	}
	return d.carry(ctx, hash)
}

func (d *Auth) choose(ctx context.Context) error {
	if _, err := d.store.InitSetting(ctx, settingChosen, []byte("yes"), d.now()); err != nil {
		return fmt.Errorf("note whose password it is: %w", err)
	}
	return nil
}

// storedHash gives an empty hash when there is no password yet.
func (d *Auth) storedHash(ctx context.Context) (string, error) {
	hash, err := d.store.Setting(ctx, settingHash)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the password's hash: %w", err)
	}
	return string(hash), nil
}

func acceptable(password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword || strings.TrimSpace(password) == "":
		return invalid("password", CodePasswordShort, "The owner password is too short.", fmt.Sprintf("Use at least %d characters.", minPassword))
	case len(password) > maxPassword:
		return invalid("password", CodePasswordLong, "The owner password is too long.", fmt.Sprintf("Use at most %d bytes.", maxPassword))
	}
	return nil
}

func noPassword() *fault.Fault {
	return &fault.Fault{
		Status: http.StatusServiceUnavailable, Code: CodeNoPassword, Message: "No owner password is set.",
		Next: "Set one on the machine that runs this server: PDPP_OWNER_PASSWORD.",
	}
}
