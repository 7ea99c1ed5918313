// Package logmux carries the output of many processes to one console without losing,
// altering or mixing a line, and to a file beside it.
//
// A Stream is one pipe of one process. Every write to a Sink, the console, holds only
// whole lines of one stream, each with its prefix, so lines of different streams never
// mix; a batch of lines is one write.
//
//	pipes --> readers (a few goroutines, epoll) --> Tail, File
//	                                            \-> lane (lines, \r, prefix) --> console (one at a time, screen)
//
// # Promise
//
// Bytes come in the order in which they were written, and all of them, also those that
// a process wrote right before it was killed. A line over MaxLine comes in pieces. With a
// prefix each is a line of its own and the further ones begin with the continuation
// prefix (`[3]+ `); joined they are the line. Without a prefix the pieces are written as
// they come. No UTF-8 character is cut. The last line is closed if it has no end.
//
// To a pipe or file go only whole lines. A terminal shows an unfinished line when its
// process has been silent for 100 ms, which means that its pipe is empty; if somebody
// else writes meanwhile, the rest follows as a further piece. A progress bar (a line with
// a lone \r in it, which also is one that nothing followed for 100 ms) is refreshed in
// place on a terminal, where one line is kept for bars and several take turns; elsewhere
// its state comes about once a second, and its last state always. With Options.KeepCR all
// states come, as pieces of their line.
//
// A slow console slows the process that writes (back-pressure through the pipe); nothing
// is queued. Where a stream has a File, a console may hold it for Stream.Holds, and in the
// long run for a tenth of the time: then whole lines are left out on the console, and
// counted there. That never happens on a console that is a file itself: it always takes
// bytes in the end. A console that goes away is dropped with one warning and the pipes are
// still read: a closed terminal must not kill a job. So is a File that fails.
//
// # Memory
//
// A quiet stream costs less than 3 KiB, no goroutine and no buffer; an unfinished line is
// kept as it is, up to 64 KiB; a Tail takes up to 32 KiB once its stream has written. The
// readers of one console, two to four, have about 400 KiB each while they read, and the
// collector gets it back when they do not. Up to 32 busy pipes are made 512 KiB large, of
// which the kernel takes only what is unread. So 512 ranks that were busy together and
// then are quiet take 3 MiB here, and ever so many that are busy together 2 MiB more, and
// what their unfinished lines are long.
//
// It knows nothing of ranks: the caller gives each stream its prefix; the fields of a
// Template are only names. It opens no files and does not rotate them.
// Source of the rules: the launch specification, "Output".
package logmux
