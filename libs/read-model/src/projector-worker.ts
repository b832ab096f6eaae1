import { channelsProjection, conversationProjection, memoryProjection, memorySourcesProjection } from '@rookery/kernel';
import { runProjector } from './run-projector.ts';

runProjector([conversationProjection, memoryProjection, memorySourcesProjection, channelsProjection]);
