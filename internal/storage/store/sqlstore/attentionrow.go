package sqlstore

import (
	"errors"
	"fmt"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The statements that insert and update a record. The id and the revision that was read are the last arguments.
const (
	savedAttention = `connection_id, dedupe_key, kind, satisfied_when, urgency, affects_json, owner_copy, reason_code,
		occasion,
		lifecycle, opened_at, updated_at, expires_at, closed_at, confirm_asked_at, failed_confirmations, notification_state,
		notification_updated_at, notification_reason, revision`
	savedPlaces     = `(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?`
	insertAttention = `INSERT INTO connector_attention_records (` + savedAttention + `, attention_id) VALUES ` +
		savedPlaces + `, ?)`
	updateAttention = `UPDATE connector_attention_records SET (` + savedAttention + `) = ` + savedPlaces + `)
		WHERE attention_id = ? AND revision = ?`
)

// saveAttention inserts a record of revision zero and updates any other one.
func (t *tx) saveAttention(r *attention.AttentionRecord) error {
	affects, err := jsonStrings(r.Affects)
	if err != nil {
		return err
	}
	query, args := insertAttention, []any{
		r.ConnectionID, r.Key(), r.Kind, r.Contract, r.Urgency, affects, r.Words, r.Reason, r.Occasion,
		r.Lifecycle, formatTime(r.OpenedAt), formatTime(r.UpdatedAt), timeOrNull(r.ExpiresAt), timeOrNull(r.ClosedAt),
		timeOrNull(r.ConfirmAskedAt), r.Confirmations, r.Notice, timeOrNull(r.NoticeAt), r.NoticeWhy, r.Revision + 1, r.ID,
	}
	if r.Revision != 0 {
		query, args = updateAttention, append(args, r.Revision)
	}
	changed, err := t.exec(query, args...)
	if errors.Is(t.db.dialect.ClassifyError(err), store.ErrExists) {
		return fmt.Errorf("%w: %w", store.ErrStale, err)
	}
	if err == nil && changed == 0 {
		return store.ErrStale
	}
	return err
}

const attentionColumns = `attention_id, connection_id, kind, satisfied_when, urgency, affects_json, owner_copy,
	reason_code, occasion,
	lifecycle, opened_at, updated_at, expires_at, closed_at, confirm_asked_at, failed_confirmations, notification_state,
	notification_updated_at, notification_reason, revision`

func scanAttention(s scanner) (r attention.AttentionRecord, err error) {
	var affects string
	err = s.Scan(&r.ID, &r.ConnectionID, &r.Kind, &r.Contract, &r.Urgency, &affects, &r.Words, &r.Reason, &r.Occasion,
		&r.Lifecycle, intoTime(&r.OpenedAt), intoTime(&r.UpdatedAt), intoTimePtr(&r.ExpiresAt), intoTimePtr(&r.ClosedAt),
		intoTimePtr(&r.ConfirmAskedAt), &r.Confirmations, &r.Notice, intoTimePtr(&r.NoticeAt), &r.NoticeWhy, &r.Revision)
	if err == nil {
		r.Affects, err = parseStrings(affects)
	}
	return r, err
}
