/** The process of the command line: its arguments in, its exit code out. */
import { reportFailure } from './failure.ts';
import { endQuietlyOnClosedPipe } from './output.ts';
import { createProgram, runCommand } from './program.ts';

endQuietlyOnClosedPipe();
const args = process.argv.slice(2);
const program = createProgram(process);
// A promise that was not awaited fails like everything else: in one line.
process.on('uncaughtException', (error) => process.exit(reportFailure(error, program.outputFor(args), program.failureOptions(args))));
const exitCode = await runCommand(program, args);
// Whatever a source may still have open must not keep us; what we wrote must be out before.
process.stdout.write('', () => process.exit(exitCode));
