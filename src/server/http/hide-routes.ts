/**
 * Routes of APIs that others have specified are not in our OpenAPI document:
 * their own documents describe them, and pages of ours say what of them is
 * answered.
 */
import type { FastifyInstance } from 'fastify';

/** Leaves every route that is added to `api` from here on out of the document. */
export function hideRoutes(api: FastifyInstance): void {
  api.addHook('onRoute', (route) => {
    route.schema = { ...route.schema, hide: true };
  });
}
