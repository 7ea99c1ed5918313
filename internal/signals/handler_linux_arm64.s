#include "textflag.h"

// handler is called by the kernel, as handler(signal R0, siginfo R1, context R2), with
// every signal blocked and in the middle of anything. It writes the siginfo to the pipe;
// what the pipe does not take as a whole goes to the runtime's handler as if the kernel
// had called that. The kernel restores all registers afterwards, and a system call keeps
// all but R0; R28, the runtime's g, is not touched.
TEXT ·handler(SB), NOSPLIT|NOFRAME, $0
	MOVD R0, R9
	MOVD R2, R10
	MOVW ·pipe(SB), R0
	MOVD $128, R2           // bytes of a siginfo
	MOVD $64, R8            // write
	SVC
	CMP  $128, R0
	BNE  refused
	RET

refused:
	MOVD R9, R0
	MOVD R10, R2
	MOVD ·otherwise(SB), R11
	JMP  (R11)

// func address() uintptr
TEXT ·address(SB), NOSPLIT, $0-8
	MOVD $·handler(SB), R0
	MOVD R0, ret+0(FP)
	RET
