package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/audit"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const (
	settingHash   = "owner_password_hash"
	settingChosen = "owner_password_chosen"

	minPassword = 8    // characters
	maxPassword = 1024 // bytes
)

// Setup ensures that a password exists. A configured password replaces the stored one unless equal. If there is none,
// Setup generates one and returns it; it can be shown only now. Of several processes that start at once, one
// generates it.
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
	if hash, err = d.hashPassword(ctx, made); err != nil {
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
		same, err := d.passwordMatches(ctx, given, hash)
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

// Chosen reports whether the owner chose the password. A generated one does not count: it was printed to a terminal
// or log and is meant only for that machine.
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

// SetPassword replaces the password for a caller who has the database or just proved to be the owner. It ends all
// other sessions and, unless keepTokens is set, all other owner tokens.
func (d *Auth) SetPassword(ctx context.Context, password string, keepTokens bool) error {
	if err := acceptable(password); err != nil {
		return err
	}
	hash, err := d.hashPassword(ctx, password)
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
	return d.carrySession(ctx, hash)
}

func (d *Auth) choose(ctx context.Context) error {
	if _, err := d.store.InitSetting(ctx, settingChosen, []byte("yes"), d.now()); err != nil {
		return fmt.Errorf("note whose password it is: %w", err)
	}
	return nil
}

// storedHash returns an empty hash if there is no password yet.
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
		return invalidInput("password", CodePasswordShort, "The owner password is too short.",
			fmt.Sprintf("Use at least %d characters.", minPassword))
	case len(password) > maxPassword:
		return invalidInput("password", CodePasswordLong, "The owner password is too long.",
			fmt.Sprintf("Use at most %d bytes.", maxPassword))
	}
	return nil
}

func noPassword() *usererr.Error {
	return &usererr.Error{
		Status: http.StatusServiceUnavailable, Code: CodeNoPassword, Message: "No owner password is set.",
		Next: "Set one on the machine that runs this server: PDPP_OWNER_PASSWORD.",
	}
}
