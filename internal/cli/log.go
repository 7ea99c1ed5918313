package cli

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
)

// newLogger makes the launcher's own messages: one line each, on stderr.
func newLogger(w io.Writer, format string, level slog.Level) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(&textHandler{w: w, level: level})
}

// textHandler writes messages for people: "lenslaunch: message key=value". The
// program's name tells them from the workers' lines; a time would be noise beside
// them, and --log-format json has it.
type textHandler struct {
	w     io.Writer
	level slog.Level
	attrs string
}

func (h *textHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *textHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString("lenslaunch: ")
	if r.Level == slog.LevelWarn {
		b.WriteString("warning: ")
	}
	b.WriteString(oneLine(r.Message))
	b.WriteString(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		writeAttr(&b, a)
		return true
	})
	b.WriteByte('\n')
	// One write, so that no other line gets into it.
	_, err := io.WriteString(h.w, b.String())
	return err
}

func writeAttr(b *strings.Builder, a slog.Attr) {
	text := a.Value.Resolve().String()
	if text == "" || strings.ContainsAny(text, " \t\r\n\"=") {
		text = strconv.Quote(text)
	}
	b.WriteString(" " + a.Key + "=" + text)
}

// WithAttrs adds attributes to every message.
func (h *textHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var b strings.Builder
	b.WriteString(h.attrs)
	for _, a := range attrs {
		writeAttr(&b, a)
	}
	return &textHandler{w: h.w, level: h.level, attrs: b.String()}
}

// WithGroup has no form in these lines: keys are unique without groups.
func (h *textHandler) WithGroup(string) slog.Handler { return h }
